import middy from '@middy/core';
import { describe, expect, it, vi } from 'vitest';
import { loadTools } from '../../../lambdas/layered-tools.ts';

const ask = (load: () => Promise<void>, timeoutMs?: number) =>
  middy()
    .use(loadTools({ load }, timeoutMs))
    .handler(async () => 'answered')({}, {} as never);

describe('loadTools', () => {
  it('loads the tools before the handler runs', async () => {
    const loading = Promise.withResolvers<void>();
    const load = vi.fn(() => loading.promise);
    const answer = ask(load);
    expect(await Promise.race([answer, Promise.resolve('waits')])).toBe('waits');
    loading.resolve();
    expect(await answer).toBe('answered');
    expect(load).toHaveBeenCalledOnce();
  });

  it('runs the handler without tools after its timeout', async () => {
    expect(await ask(() => new Promise(() => undefined), 1)).toBe('answered');
  });
});
