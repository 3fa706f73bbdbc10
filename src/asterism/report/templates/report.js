"use strict";
// Draws figures when they come near the window, moves them with their sliders, keeps them in the colours of the page.
(() => {
  const root = document.documentElement;
  const byId = (id) => document.getElementById(id);
  const wanted = [...document.querySelectorAll(".plot")].map((place) => place.id.slice("plot-".length));
  const darkness = window.matchMedia("(prefers-color-scheme: dark)");
  const phone = window.matchMedia("(max-width: 559px)");
  const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  const fingers = window.matchMedia("(pointer: coarse)").matches;
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : darkness.matches);
  const copy = (value) => JSON.parse(JSON.stringify(value));

  // --- figures: read when first asked for ---
  const figures = new Map();
  const figureOf = (id) => {
    if (!figures.has(id)) figures.set(id, JSON.parse(byId(`data-${id}`).textContent));
    return figures.get(id);
  };
  const stepOf = (id) => Number(byId(`slider-${id}`)?.value ?? 0);

  // --- plotly: unpacked once the words of the page are on the screen ---
  const unpacked = async () => {
    const text = atob(byId("plotly").textContent);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i); // four times as fast as Uint8Array.from
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.head.append(script); // runs at once; the page's policy knows its hash
    if (!window.Plotly) throw new Error("the script of the figures does not run here");
  };

  // --- theme ---
  const themed = (figure) => {
    const style = getComputedStyle(root);
    const ink = (name) => style.getPropertyValue(name).trim();
    const layout = copy(figure.layout);
    const narrow = phone.matches ? figure.narrow : {};
    for (const [name, part] of Object.entries(narrow)) layout[name] = typeof part === "object" ? { ...layout[name], ...part } : part;
    const axis = { gridcolor: ink("--line"), linecolor: ink("--line"), zerolinecolor: ink("--faint"), tickcolor: ink("--line"), automargin: true };
    for (const name of new Set(["xaxis", "yaxis", ...Object.keys(layout).filter((key) => /^[xy]axis/.test(key))])) {
      layout[name] = { ...axis, ...layout[name] };
      layout[name].title = { ...layout[name].title, font: { size: 12, color: ink("--soft") } };
    }
    return {
      height: figure.height,
      ...layout,
      autosize: true,
      margin: { l: 48, r: 12, t: 14, b: 44, ...layout.margin },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: ink("--soft") },
      hoverlabel: { bgcolor: ink("--sheet"), bordercolor: ink("--faint"), font: { color: ink("--ink"), size: 12 }, align: "left" },
      dragmode: fingers ? false : "pan", // a finger on a figure scrolls the page
    };
  };
  const tinted = (trace) => {
    if (trace.type !== "heatmap") return trace;
    const middle = dark() ? "#20252e" : "#f7f6f2";
    const small = phone.matches ? { showscale: false, texttemplate: "" } : {};
    return { ...trace, ...small, colorscale: [[0, "#2f6fae"], [0.5, middle], [1, "#d9713c"]] };
  };

  // --- drawing ---
  const drawn = new Set();
  const options = { displaylogo: false, responsive: true, displayModeBar: false, scrollZoom: false };
  const draw = (id) => {
    const figure = figureOf(id);
    const changes = figure.frames[stepOf(id)]?.data ?? [];
    const data = figure.data.map((trace, i) => tinted({ ...copy(trace), ...copy(changes[i] ?? {}) }));
    drawn.add(id);
    return Plotly.react(byId(`plot-${id}`), data, themed(figure), options)
      .then(() => { byId(`plot-${id}`).dataset.drawn = "yes"; })
      .catch((error) => console.error(`figure ${id}:`, error));
  };
  const drawWhenNear = () => {
    const near = new IntersectionObserver((entries) => {
      const ids = entries.filter((entry) => entry.isIntersecting).map((entry) => entry.target.id.slice("plot-".length));
      const drawing = ids.filter((id) => !drawn.has(id)).map(draw);
      Promise.all(drawing).then(ready);
    }, { rootMargin: "300px 0px" });
    wanted.forEach((id) => near.observe(byId(`plot-${id}`)));
    if (!wanted.length) ready();
  };
  const ready = () => {
    if (root.dataset.ready) return;
    performance.mark("ready");
    root.dataset.ready = "yes"; // what is in the window is drawn
  };
  const failed = (error) => {
    console.error(error);
    wanted.forEach((id) => { byId(`plot-${id}`).textContent = "This browser cannot draw the figure; its numbers stand below."; });
  };

  // --- sliders ---
  const slide = (id, slider) => {
    const said = byId(`said-${id}`);
    const tell = () => {
      said.textContent = figureOf(id).frames[stepOf(id)].caption;
      slider.setAttribute("aria-valuetext", said.textContent);
      if (drawn.has(id)) draw(id);
    };
    slider.addEventListener("input", tell);
    slider.setAttribute("aria-valuetext", said.textContent);
    const button = byId(`play-${id}`);
    if (!button) return;
    let timer = 0;
    const call = (word) => { button.textContent = word; button.setAttribute("aria-label", `${word} ${slider.getAttribute("aria-label")}`); };
    const stop = () => { clearInterval(timer); timer = 0; call("Play"); };
    const move = (value) => { slider.value = value; tell(); };
    button.addEventListener("click", () => {
      if (timer) { stop(); return; }
      if (slider.value === slider.max) move(slider.min);
      call("Pause");
      timer = setInterval(() => {
        if (slider.value !== slider.max) move(Number(slider.value) + 1);
        if (slider.value === slider.max) stop();
      }, still ? 1500 : 700);
    });
  };
  wanted.forEach((id) => { const slider = byId(`slider-${id}`); if (slider) slide(id, slider); });

  // --- light and dark, narrow and wide ---
  const toggle = byId("theme");
  const name = () => {
    toggle.textContent = dark() ? "Light" : "Dark";
    toggle.setAttribute("aria-label", `Change to ${dark() ? "light" : "dark"} colours`);
  };
  const repaint = () => { name(); drawn.forEach(draw); };
  toggle.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; repaint(); });
  darkness.addEventListener("change", repaint);
  phone.addEventListener("change", repaint);
  name();

  // --- paper is light, and has all figures on it ---
  let before;
  window.addEventListener("beforeprint", () => {
    before = root.dataset.theme;
    root.dataset.theme = "light";
    if (window.Plotly) wanted.forEach(draw);
  });
  window.addEventListener("afterprint", () => {
    if (before) root.dataset.theme = before; else delete root.dataset.theme;
    repaint();
  });

  requestAnimationFrame(() => setTimeout(() => unpacked().then(drawWhenNear, failed)));
})();
