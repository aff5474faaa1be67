import { describe, expect, it } from 'vitest';
import { CapacityExceeded, ClientLimitExceeded } from '../../../../../core/errors/index.ts';
import { createEncoderSlots } from '../../../../../stream-service/outputs/encode/frames/frame-streams.ts';
import { createAdmission } from '../../../../../stream-service/sessions/stream-sessions.ts';
import { heldFfmpegs } from '../../../sessions/held-ffmpegs.ts';

const forever = new AbortController().signal;

function slotsFor({ maxFfmpeg = 10, parallelism = 2, maxWaiting = 2 } = {}) {
  const admission = createAdmission({ maxStreams: 1, maxStreamsPerClient: 1, maxFfmpeg });
  const { tryAcquireFfmpeg } = admission;
  const held = () => heldFfmpegs(admission, maxFfmpeg);
  return { admission, held, ...createEncoderSlots({ parallelism, tryAcquireFfmpeg, maxWaiting }) };
}

describe('createEncoderSlots', () => {
  it('limits concurrent encoders and serves waiters in order', async () => {
    const { acquire, held } = slotsFor();
    const [first, second] = [await acquire('a', forever, false), await acquire('a', forever, false)];
    const order: string[] = [];
    const encodeNext = async (name: string, hasStarted: boolean) => {
      const release = await acquire('a', forever, hasStarted);
      order.push(name);
      release();
    };
    const waiting = [encodeNext('third', false), encodeNext('fourth', true)];
    expect(held()).toBe(2);
    first();
    await Promise.all(waiting);
    second();
    expect(order).toEqual(['third', 'fourth']);
    expect(held()).toBe(0);
  });

  it('refuses streams without a sent byte when too many wait, never started ones', async () => {
    const { acquire } = slotsFor({ parallelism: 1, maxWaiting: 1 });
    const release = await acquire('a', forever, false);
    const waiting = [acquire('a', forever, false), acquire('a', forever, true)];
    await expect(acquire('a', forever, false)).rejects.toThrow(CapacityExceeded);
    release();
    for (const next of waiting) (await next)();
  });

  it('tells beforehand whether a stream would be refused', async () => {
    const { acquire, requireRoom } = slotsFor({ parallelism: 1, maxWaiting: 2 });
    const release = await acquire('a', forever, false);
    requireRoom('a');
    const waiting = [acquire('a', forever, false)];
    expect(() => requireRoom('a')).toThrow(ClientLimitExceeded);
    requireRoom('b');
    waiting.push(acquire('b', forever, false));
    expect(() => requireRoom('c')).toThrow(CapacityExceeded);
    release();
    for (const next of waiting) (await next)();
    requireRoom('a');
  });

  it('serves clients in turn, and refuses one with half of the waiting streams', async () => {
    const { acquire } = slotsFor({ parallelism: 1, maxWaiting: 4 });
    const release = await acquire('a', forever, false);
    const order: string[] = [];
    const encodeNext = async (client: string) => {
      const end = await acquire(client, forever, false);
      order.push(client);
      end();
    };
    const waiting = ['a', 'a', 'b'].map(encodeNext);
    await expect(acquire('a', forever, false)).rejects.toThrow(ClientLimitExceeded);
    release();
    await Promise.all(waiting);
    expect(order).toEqual(['a', 'b', 'a']);
  });

  it('refuses streams without a sent byte when other work runs every process', async () => {
    const { acquire, admission } = slotsFor({ maxFfmpeg: 1 });
    const other = admission.acquireFfmpeg('b');
    await expect(acquire('a', forever, false)).rejects.toThrow(CapacityExceeded);
    const started = acquire('a', forever, true);
    other();
    (await started)();
    (await acquire('a', forever, false))();
  });

  it('removes a waiter whose signal aborts', async () => {
    const { acquire, held } = slotsFor({ parallelism: 1, maxWaiting: 4 });
    const release = await acquire('a', forever, false);
    const leaver = new AbortController();
    const left = acquire('a', leaver.signal, false);
    const next = acquire('a', forever, false);
    leaver.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    await expect(acquire('a', leaver.signal, false)).rejects.toThrow('left');
    release();
    (await next)();
    (await acquire('a', forever, false))();
    expect(held()).toBe(0);
  });

  it('releases the slot of a caller that aborts while other work runs every process', async () => {
    const { acquire, admission } = slotsFor({ maxFfmpeg: 1, parallelism: 1 });
    const other = admission.acquireFfmpeg('b');
    const leaver = new AbortController();
    const left = acquire('a', leaver.signal, true);
    leaver.abort();
    await expect(left).rejects.toThrow();
    other();
    (await acquire('a', forever, false))();
  });
});
