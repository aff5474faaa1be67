import type { RefObject } from 'preact';
import { type Inputs, useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { usePage } from './context.ts';

/** The result of `load`; undefined before, after a failure, and when `load` returns undefined. @param inputs as for an effect */
export function useLoaded<T>(load: () => Promise<T> | undefined, inputs: Inputs): T | undefined {
  const [loaded, setLoaded] = useState<T>();
  useEffect(() => {
    let isCurrent = true;
    setLoaded(undefined);
    load()?.then(
      (value) => isCurrent && setLoaded(() => value),
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, inputs);
  return loaded;
}

/** Acts when the browser is online again, while there is something to do. */
export function useOnline(act: (() => void) | undefined): void {
  useEffect(() => {
    if (!act) return;
    addEventListener('online', act);
    return () => removeEventListener('online', act);
  });
}

interface Attempts<T> {
  readonly loaded?: T;
  readonly error?: unknown;
  readonly retry: () => void;
}

/** As `useLoaded`, with the error of a failure, and another attempt. */
export function useAttempts<T>(load: () => Promise<T> | undefined, inputs: Inputs): Attempts<T> {
  const [attempt, setAttempt] = useState(0);
  const settle = () =>
    load()?.then(
      (loaded) => ({ loaded }),
      (error: unknown) => ({ error }),
    );
  const state = useLoaded<Omit<Attempts<T>, 'retry'>>(settle, [...inputs, attempt]);
  return { ...state, retry: () => setAttempt(attempt + 1) };
}

/**
 * Loads a module, and the texts of lazily loaded modules, once it is wanted. Fails without a connection, and after a deployment.
 * @param load calls `import()`
 */
export function useLazy<T>(load: () => Promise<T>, isWanted = true): Attempts<T> {
  const { texts } = usePage();
  const start = async () => (await Promise.all([load(), texts.loadLazy()]))[0];
  return useAttempts(() => (isWanted ? start() : undefined), [isWanted]);
}

/** Sets a custom property of the root element to an element's height, which depends on language and width. */
export function usePublishedHeight(element: RefObject<HTMLElement | null>, property: `--${string}`): void {
  useEffect(() => {
    const { current } = element;
    if (!current) return;
    const { style } = document.documentElement;
    const observer = new ResizeObserver(() => style.setProperty(property, `${current.offsetHeight}px`));
    observer.observe(current);
    return () => {
      observer.disconnect();
      style.removeProperty(property);
    };
  }, [property]);
}

/** Focuses without scrolling: the target is in view, or is the whole page. */
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
