import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';

/** Gives the focus to what stays. It is in view already, or nothing in particular. */
const moveFocus = (element: Element | null | undefined): void => {
  if (element instanceof HTMLElement) element.focus({ preventScroll: true });
};

/** Moves the focus off a row of a list that is about to go: to the next, the one before, or the page. */
export const moveFocusFromRow = (row: Element | null): void =>
  moveFocus(row?.nextElementSibling ?? row?.previousElementSibling ?? row?.closest('main'));

/** Moves the focus off a part of the page that is about to go. */
export const moveFocusFromSection = (part: Element | null): void => moveFocus(part?.closest('main'));

/**
 * Hands the focus on when what has it inside of a container goes with this drawing. It would fall to the body, and who
 * uses no mouse would begin at the top again.
 */
export function useFocusFallback(container: RefObject<Element | null>, heir: () => Element | null | undefined): void {
  const wasInside = container.current?.contains(document.activeElement);
  useLayoutEffect(() => {
    if (wasInside && document.activeElement === document.body) moveFocus(heir());
  });
}
