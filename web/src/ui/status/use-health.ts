import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Api } from '../../api/index.ts';
import { usePage } from '../context.ts';

/** Result of a check; without `info` the instance did not respond. */
export interface Health {
  readonly info?: Awaited<ReturnType<Api['getAppInfo']>>;
  readonly requests?: number;
  /** Response time. */
  readonly milliseconds?: number;
  /** Time of the request, epoch milliseconds. */
  readonly at: number;
}

export interface HealthCheck {
  /** Undefined until the first response. */
  readonly health: Health | undefined;
  readonly isChecking: boolean;
  readonly check: () => void;
}

const EVERY_MILLISECONDS = 15_000;
const PATIENCE_MILLISECONDS = 10_000;

/** Polls the instance's health while the page is visible. */
export function useHealth(): HealthCheck {
  const { api } = usePage();
  const [health, setHealth] = useState<Health>();
  const [isChecking, setChecking] = useState(true);
  const isBusy = useRef(false);

  const ask = useCallback(async () => {
    if (isBusy.current) return;
    isBusy.current = true;
    setChecking(true);
    const started = performance.now();
    const signal = AbortSignal.timeout(PATIENCE_MILLISECONDS);
    try {
      const info = await api.getAppInfo(signal);
      const milliseconds = Math.round(performance.now() - started);
      const requests = await api.getRequestCount(signal).catch(() => undefined);
      setHealth({ info, milliseconds, at: Date.now(), requests });
    } catch {
      setHealth({ at: Date.now() });
    }
    isBusy.current = false;
    setChecking(false);
  }, [api]);

  useEffect(() => {
    const look = () => {
      if (document.visibilityState === 'visible') void ask();
    };
    look();
    const timer = setInterval(look, EVERY_MILLISECONDS);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [ask]);
  return { health, isChecking, check: () => void ask() };
}
