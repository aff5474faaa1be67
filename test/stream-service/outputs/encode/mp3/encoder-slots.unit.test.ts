import { describe, expect, it } from 'vitest';
import { CapacityExceeded, ClientLimitExceeded } from '../../../../../core/errors/index.ts';
import { createEncoderSlots } from '../../../../../stream-service/outputs/encode/frames/frame-streams.ts';
import { createAdmission } from '../../../../../stream-service/sessions/stream-sessions.ts';
import { heldFfmpegs } from '../../../sessions/held-ffmpegs.ts';

const forever = new AbortController().signal;

function slotsFor({ maxFfmpeg = 10, parallelism = 2, maxWaiting = 2 } = {}) {
  const admission = createAdmission({ maxStreams: 1, maxStreamsPerClient: 1, maxFfmpeg });
  const { tryAcquireFfmpeg } = admission;
  return { admission, ...createEncoderSlots({ parallelism, tryAcquireFfmpeg, maxWaiting }) };
}

describe('createEncoderSlots', () => {
  it('refuses streams without a sent byte when too many wait, and says so beforehand, never started ones', async () => {
    const { acquire, requireRoom } = slotsFor({ parallelism: 1, maxWaiting: 2 });
    const refusal = async (client: string) => {
      await expect(acquire(client, forever, false)).rejects.toThrow();
      return () => requireRoom(client);
    };
    const release = await acquire('a', forever, false);
    const waiting = [acquire('a', forever, false)];
    expect(await refusal('a')).toThrow(ClientLimitExceeded);
    requireRoom('b');
    waiting.push(acquire('b', forever, false), acquire('c', forever, true));
    expect(await refusal('c')).toThrow(CapacityExceeded);
    release();
    for (const next of waiting) (await next)();
    requireRoom('a');
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

  it('releases the slot of a caller that aborts while other work runs every process', async () => {
    const { acquire, admission } = slotsFor({ maxFfmpeg: 1, parallelism: 1 });
    const other = admission.acquireFfmpeg('b');
    const leaver = new AbortController();
    const left = acquire('a', leaver.signal, true);
    leaver.abort();
    await expect(left).rejects.toThrow();
    other();
    (await acquire('a', forever, false))();
    expect(heldFfmpegs(admission, 1)).toBe(0);
  });
});
