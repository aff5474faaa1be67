import { describe, expect, it, vi } from 'vitest';
import { toStreamProblem } from '../../../core/api/problem.ts';
import { CapacityExceeded, ClientLimitExceeded } from '../../../core/errors/index.ts';
import { createAdmission } from '../../../stream-service/sessions/stream-sessions.ts';

const create = () => createAdmission({ maxStreams: 3, maxStreamsPerClient: 2, maxFfmpeg: 1 });

describe('createAdmission', () => {
  it('limits the streams of one client and those of all clients', () => {
    const admission = create();
    admission.acquireStream('a');
    admission.acquireStream('a');
    expect(() => admission.acquireStream('a')).toThrow(ClientLimitExceeded);
    admission.acquireStream('b');
    expect(() => admission.acquireStream('c')).toThrow(CapacityExceeded);
  });

  it.each([
    ['acquireStream', 0, 429],
    ['acquireStream', 1, 503],
    ['acquireFfmpeg', 1, 503],
  ] as const)('%s at its limit (%d streams per client) is answered %d with Retry-After', (name, perClient, status) => {
    const admission = createAdmission({ maxStreams: 1 - perClient, maxStreamsPerClient: perClient, maxFfmpeg: 0 });
    const refusal = vi.fn(() => admission[name]('a'));
    expect(refusal).toThrow();
    expect(toStreamProblem(refusal.mock.results[0]?.value)).toMatchObject({
      details: { status },
      headers: { 'retry-after': '10' },
    });
  });

  it('releases a slot once, however often release is called', () => {
    const admission = create();
    const release = admission.acquireStream('a');
    admission.acquireStream('a');
    release();
    release();
    admission.acquireStream('a');
    expect(() => admission.acquireStream('a')).toThrow(ClientLimitExceeded);
  });

  it('limits FFmpeg processes; tryAcquireFfmpeg returns undefined at the limit', () => {
    const admission = create();
    const release = admission.acquireFfmpeg('a');
    expect(() => admission.acquireFfmpeg('a')).toThrow(CapacityExceeded);
    expect(admission.tryAcquireFfmpeg('a')).toBeUndefined();
    release();
    expect(admission.tryAcquireFfmpeg('a')).toBeTypeOf('function');
    expect(admission.tryAcquireFfmpeg('a')).toBeUndefined();
  });

  it('limits the FFmpeg processes of one client to three quarters of them', () => {
    const admission = createAdmission({ maxStreams: 99, maxStreamsPerClient: 99, maxFfmpeg: 8 });
    const held = Array.from({ length: 6 }, () => admission.acquireFfmpeg('a'));
    expect(() => admission.acquireFfmpeg('a')).toThrow(ClientLimitExceeded);
    expect(admission.tryAcquireFfmpeg('a')).toBeUndefined();
    admission.acquireFfmpeg('b');
    held[0]?.();
    admission.acquireFfmpeg('a');
    admission.acquireFfmpeg('b');
    expect(() => admission.acquireFfmpeg('b')).toThrow(CapacityExceeded);
  });

  it('drain refuses new streams and settles with the last one', async () => {
    const admission = create();
    const release = admission.acquireStream('a');
    let drained = false;
    const draining = admission.drain().then(() => {
      drained = true;
    });
    expect(() => admission.acquireStream('b')).toThrow(CapacityExceeded);
    expect(drained).toBe(false);
    release();
    await draining;
  });

  it('drain settles at once without streams', () => create().drain());
});
