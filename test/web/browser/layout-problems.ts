import type { Page } from 'playwright-core';

/** Finds clipped, overlapping and overflowing text in the current layout; runs within the page. */
export function findLayoutProblems(): string[] {
  const problems = new Set<string>();
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) problems.add(`the page is ${scrollWidth - clientWidth} px wider than its window`);
  /** Text boxes that must not overlap. */
  const places: { said: string; boxes: DOMRect[] }[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    const text = node.textContent?.trim();
    if (!parent || !text || !parent.checkVisibility({ visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    if (box.width === 0) continue;
    const said = `“${text.slice(0, 40)}”`;
    let isLeftOut = false;
    for (let element: Element | null = parent; element && element !== document.body; element = element.parentElement) {
      const style = getComputedStyle(element);
      // Scroll containers, ellipsized and visually hidden text may exceed their box.
      const isShortened = style.textOverflow === 'ellipsis' || style.webkitLineClamp !== 'none';
      const isForEars = style.clipPath === 'inset(50%)' || style.position === 'fixed';
      isLeftOut ||= /auto|scroll/.test(style.overflowX + style.overflowY) || isShortened || isForEars;
      if (isLeftOut) break;
      if (style.overflowX === 'visible' && style.overflowY === 'visible') continue;
      const frame = element.getBoundingClientRect();
      const over = Math.max(box.right - frame.right, frame.left - box.left, box.bottom - frame.bottom);
      if (over > 2) problems.add(`${said} is cut off by ${Math.round(over)} px`);
    }
    if (isLeftOut) continue;
    const isLaidOver = parent.closest('.player, .media-stage, .actions, .menu-panel, dialog') !== null;
    if (!isLaidOver) places.push({ said, boxes: [...range.getClientRects()] });
    const holder = parent.closest('button, .button, select');
    const frame = holder?.getBoundingClientRect();
    if (frame && (box.right > frame.right + 1 || box.left < frame.left - 1))
      problems.add(`${said} sticks out of its button`);
    if (box.right > clientWidth + 1 || box.left < -1) problems.add(`${said} is out of the window`);
  }
  const isUpon = (a: DOMRect, b: DOMRect) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4;
  for (const [index, one] of places.entries())
    for (const other of places.slice(index + 1))
      if (one.boxes.some((box) => other.boxes.some((its) => isUpon(box, its))))
        problems.add(`${one.said} and ${other.said} lie upon each other`);
  return [...problems];
}

/** Begins to sum layout shifts without recent input, of what the page opens from now on. */
export const measureShift = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    const sum = (entries: PerformanceEntryList) =>
      (entries as (PerformanceEntry & { value: number; hadRecentInput: boolean })[])
        .filter(({ hadRecentInput }) => !hadRecentInput)
        .reduce((total, { value }) => total + value, 0);
    let shift = 0;
    const observer = new PerformanceObserver((list) => {
      shift += sum(list.getEntries());
    });
    observer.observe({ type: 'layout-shift', buffered: true });
    const readShift = async () => {
      // What has changed is laid out in the next frame, whose shift is known in the one after it, and not delivered yet.
      for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
      shift += sum(observer.takeRecords());
      return shift;
    };
    Object.assign(globalThis, { readShift });
  });

/** The sum of the layout shifts up to what is to be seen now. */
export const shiftOf = (page: Page): Promise<number> =>
  page.evaluate(() => (globalThis as unknown as { readShift(): Promise<number> }).readShift());
