// Draws a chart above each table[data-chart], from the table itself: the numbers stay readable, and
// without this script they are all there is. A click on the chart follows the link of its row.
"use strict";

(() => {
  const TONES = ["--chart-1", "--chart-2", "--chart-3", "--chart-4", "--chart-5"];
  const drawn = [];

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  // The first cell of a row names it; the others are numbers.
  function read(table) {
    const heads = [...table.tHead.rows[0].cells].slice(1);
    const rows = [...table.tBodies[0].rows];
    const number = (cell) => Number(cell.dataset.value ?? cell.textContent);
    return {
      labels: rows.map((row) => row.cells[0].dataset.label ?? row.cells[0].textContent.trim()),
      links: rows.map((row) => row.querySelector("a")?.href),
      series: heads.map((head, at) => ({
        label: head.textContent.trim(),
        tone: Number(head.dataset.tone ?? at + 1) - 1,
        data: rows.map((row) => number(row.cells[at + 1])),
      })),
    };
  }

  function dataset({ tone: number, ...series }, kind) {
    const tone = colour(TONES[number % TONES.length]);
    const line = kind === "area";
    return {
      ...series,
      borderColor: tone,
      backgroundColor: line ? `${tone}55` : tone,
      borderWidth: line ? 2 : 0,
      fill: line,
      maxBarThickness: 40,
      pointRadius: 0,
      pointHitRadius: 8,
    };
  }

  function axes(kind, stacked) {
    const quiet = { color: colour("--quiet") };
    const values = { stacked, beginAtZero: true, ticks: { ...quiet, precision: 0 }, grid: { color: colour("--line") } };
    const names = { stacked, ticks: { ...quiet, autoSkip: kind !== "bars", maxRotation: 0 }, grid: { display: false } };
    return kind === "bars" ? { x: values, y: names } : { x: names, y: values };
  }

  function options(kind, found) {
    const several = found.series.length > 1;
    return {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      indexAxis: kind === "bars" ? "y" : "x",
      interaction: { mode: "index", intersect: false, axis: kind === "bars" ? "y" : "x" },
      scales: axes(kind, several),
      plugins: { legend: { display: several, labels: { color: colour("--ink"), boxWidth: 12 } } },
      onClick: (event, items) => {
        const link = items.length && found.links[items[0].index];
        if (link) location.assign(link);
      },
    };
  }

  function draw(table) {
    const kind = table.dataset.chart;
    const found = read(table);
    if (!found.labels.length) return;
    const canvas = document.createElement("canvas");
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${table.caption.textContent.trim()}: a chart of the table below`);
    const frame = document.createElement("div");
    frame.className = "chart";
    if (kind === "bars" && found.labels.length > 6) frame.classList.add("tall");
    frame.append(canvas);
    const fold = table.closest("details");
    (fold ?? table.closest(".scroll") ?? table).before(frame);
    if (fold) fold.open = false;
    drawn.push({ kind, found, chart: new Chart(canvas, {
      type: kind === "area" ? "line" : "bar",
      data: { labels: found.labels, datasets: found.series.map((one) => dataset(one, kind)) },
      options: options(kind, found),
    }) });
  }

  // Colours are read once; another scheme has others.
  function recolour() {
    for (const { kind, found, chart } of drawn) {
      chart.data.datasets = found.series.map((one) => dataset(one, kind));
      chart.options = options(kind, found);
      chart.update();
    }
  }

  document.querySelectorAll("table[data-chart]").forEach(draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
})();
