"use strict";
// Draws the figures of the page, moves them with their sliders, and keeps them in the colours of the page.
(() => {
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const root = document.documentElement;
  const plots = new Map(); // id -> element, once drawn
  const wide = window.matchMedia("(prefers-color-scheme: dark)");
  const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : wide.matches);
  const ink = (name) => getComputedStyle(root).getPropertyValue(name).trim();
  const narrow = () => window.innerWidth < 560;
  const copy = (value) => JSON.parse(JSON.stringify(value));

  // --- theme ---
  const themed = (figure) => {
    const layout = copy(figure.layout);
    const small = narrow();
    if (small) for (const [name, part] of Object.entries(figure.narrow)) layout[name] = { ...layout[name], ...part };
    const axis = { gridcolor: ink("--line"), linecolor: ink("--line"), zerolinecolor: ink("--faint"), tickcolor: ink("--line"), automargin: true };
    for (const name of ["xaxis", "yaxis", ...Object.keys(layout).filter((key) => /^[xy]axis/.test(key))]) {
      layout[name] = { ...axis, ...(layout[name] || {}) };
      layout[name].title = { ...(layout[name].title || {}), font: { size: 12, color: ink("--soft") } };
    }
    return {
      ...layout,
      autosize: true,
      height: figure.height,
      margin: { l: 48, r: 12, t: 14, b: 44, ...(layout.margin || {}) },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: ink("--soft") },
      hoverlabel: { bgcolor: ink("--sheet"), bordercolor: ink("--faint"), font: { color: ink("--ink"), size: 12 }, align: "left" },
      dragmode: "pan",
    };
  };
  const tinted = (data) => {
    for (const trace of data) {
      if (trace.type !== "heatmap") continue;
      const middle = dark() ? "#20252e" : "#f7f6f2";
      if (narrow()) Object.assign(trace, { showscale: false, texttemplate: "" });
      trace.colorscale = [[0, "#2f6fae"], [0.5, middle], [1, "#d9713c"]];
    }
    return data;
  };

  // --- drawing ---
  const dataOf = (figure, step) => {
    const data = copy(figure.data);
    const frame = figure.frames[step];
    if (frame) frame.data.forEach((change, i) => Object.assign(data[i], copy(change)));
    return tinted(data);
  };
  const stepOf = (id) => {
    const slider = document.getElementById(`slider-${id}`);
    return slider ? Number(slider.value) : 0;
  };
  const show = (id) => {
    const figure = figures[id];
    const place = document.getElementById(`plot-${id}`);
    plots.set(id, place);
    const options = { displaylogo: false, responsive: true, displayModeBar: false, scrollZoom: false };
    return Plotly.react(place, dataOf(figure, stepOf(id)), themed(figure), options).then(() => {
      place.dataset.drawn = "yes";
    });
  };
  const queue = Object.keys(figures);
  const next = () => {
    const id = queue.shift();
    if (!id) { root.dataset.ready = "yes"; return; }
    const go = () => show(id).catch((error) => console.error(`figure ${id}:`, error)).then(next);
    window.requestIdleCallback ? requestIdleCallback(go, { timeout: 100 }) : setTimeout(go, 0);
  };

  // --- sliders ---
  for (const [id, figure] of Object.entries(figures)) {
    const slider = document.getElementById(`slider-${id}`);
    if (!slider) continue;
    const said = document.getElementById(`said-${id}`);
    const tell = () => {
      said.textContent = figure.frames[Number(slider.value)].caption;
      slider.setAttribute("aria-valuetext", said.textContent);
      if (plots.has(id)) show(id);
    };
    slider.addEventListener("input", tell);
    tell();
    const button = document.getElementById(`play-${id}`);
    if (!button) continue;
    let timer = 0;
    const stop = () => { clearInterval(timer); timer = 0; button.textContent = "Play"; };
    button.addEventListener("click", () => {
      if (timer) { stop(); return; }
      if (slider.value === slider.max) slider.value = slider.min;
      button.textContent = "Pause";
      tell();
      timer = setInterval(() => {
        if (slider.value === slider.max) { stop(); return; }
        slider.value = Number(slider.value) + 1;
        tell();
      }, still ? 1500 : 700);
    });
  }

  // --- light and dark ---
  const toggle = document.getElementById("theme");
  const name = () => {
    toggle.textContent = dark() ? "Light" : "Dark";
    toggle.setAttribute("aria-label", `Change to ${dark() ? "light" : "dark"} colours`);
  };
  const repaint = () => { name(); plots.forEach((_, id) => show(id)); };
  toggle.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; repaint(); });
  wide.addEventListener("change", repaint);
  name();

  // --- paper is light, and tables on it are open ---
  let before;
  window.addEventListener("beforeprint", () => {
    before = root.dataset.theme;
    root.dataset.theme = "light";
    plots.forEach((_, id) => show(id));
  });
  window.addEventListener("afterprint", () => {
    if (before) root.dataset.theme = before; else delete root.dataset.theme;
    repaint();
  });
  next();
})();
