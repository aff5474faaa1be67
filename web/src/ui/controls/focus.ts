import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';

/** The target is in view or covers the page: no scrolling. */
const moveFocus = (element: Element | null | undefined): void => {
  if (element instanceof HTMLElement) element.focus({ preventScroll: true });
};

/** Moves the focus from a row about to be removed: to the next one, the previous one, or the page. */
export const moveFocusFromRow = (row: Element | null): void =>
  moveFocus(row?.nextElementSibling ?? row?.previousElementSibling ?? row?.closest('main'));

/**
 * Moves the focus when this rendering removes the focused element of a container. It would fall to the body, and
 * keyboard navigation would start from the top.
 */
export function useFocusFallback(
  container: RefObject<Element | null>,
  fallback: () => Element | null | undefined,
): void {
  const wasInside = container.current?.contains(document.activeElement);
  useLayoutEffect(() => {
    if (wasInside && document.activeElement === document.body) moveFocus(fallback());
  });
}
