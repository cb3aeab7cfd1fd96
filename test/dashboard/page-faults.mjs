// Runs in the page: what overflows, is cut, or is too faint to be read. Returns a sentence for each.
(() => {
  const faults = [];
  const nameOf = (element) =>
    `${element.tagName.toLowerCase()}${element.id ? `#${element.id}` : ''}.${element.className} in #${element.closest('[id]')?.id}`;
  const chainOf = (element) => (element === null ? [] : [element, ...chainOf(element.parentElement)]);

  /** Channels of a computed colour, 0 to 1, and its opacity. */
  const channels = (colour) => {
    const [red, green, blue, alpha = 1] = colour.match(/[\d.]+/g).map(Number);
    const share = colour.startsWith('color(') ? 1 : 255;
    return [red / share, green / share, blue / share, alpha];
  };
  const luminance = ([red, green, blue]) => {
    const [r, g, b] = [red, green, blue].map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  };
  const groundOf = (element) =>
    chainOf(element)
      .map((each) => channels(getComputedStyle(each).backgroundColor))
      .find(([, , , alpha]) => alpha === 1);

  if (document.documentElement.scrollWidth > innerWidth)
    faults.push(`the page is ${document.documentElement.scrollWidth} wide`);
  let texts = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement;
    const chain = chainOf(element);
    if (node.data.trim() === '' || chain.some((each) => each.matches('.hidden-text, script, style, noscript')))
      continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const boxes = [...range.getClientRects()].filter(({ width }) => width > 0);
    if (boxes.length === 0) continue;
    texts += 1;
    // Within everything that holds it, up to what scrolls, which keys must reach.
    for (const each of chain) {
      const { left, right } = each.getBoundingClientRect();
      const style = getComputedStyle(each);
      if (each.classList.contains('scroll') && each.scrollWidth > each.clientWidth) {
        if (each.tabIndex !== 0) faults.push(`${nameOf(each)} scrolls, but not by keys`);
        break;
      }
      if (style.display === 'inline') continue;
      if (boxes.some((box) => box.left < left - 0.5 || box.right > right + 0.5)) {
        faults.push(`'${node.data.slice(0, 30)}' leaves ${nameOf(each)}`);
      }
      if (style.overflow !== 'visible' && boxes.some((box) => box.bottom > each.getBoundingClientRect().bottom + 1)) {
        faults.push(`'${node.data.slice(0, 30)}' is cut by ${nameOf(each)}`);
      }
    }
    const ratio = contrast(channels(getComputedStyle(element).color), groundOf(element));
    if (ratio < 4.5) faults.push(`'${node.data.slice(0, 30)}' has a contrast of ${ratio.toFixed(2)}`);
  }
  // What canvases write, they write in these colours.
  const ground = groundOf(document.querySelector('.panel'));
  for (const name of ['text', 'muted']) {
    const probe = document.body.appendChild(document.createElement('span'));
    probe.style.color = `var(--${name})`;
    const ratio = contrast(channels(getComputedStyle(probe).color), ground);
    probe.remove();
    if (ratio < 4.5) faults.push(`--${name} has a contrast of ${ratio.toFixed(2)}`);
  }
  for (const element of document.querySelectorAll('.panel, .tile, canvas, button, summary, .legend')) {
    const { left, right, width } = element.getBoundingClientRect();
    if (width > 0 && (left < 0 || right > innerWidth)) faults.push(`${nameOf(element)} is outside`);
  }
  return { faults, texts };
})();
