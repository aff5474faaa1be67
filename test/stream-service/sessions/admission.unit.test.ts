import { describe, expect, it } from 'vitest';
import { CapacityExceeded, ClientLimitExceeded } from '../../../core/errors/errors.ts';
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
    expect(admission.streams()).toBe(3);
  });

  it('releases a slot once, however often release is called', () => {
    const admission = create();
    const release = admission.acquireStream('a');
    admission.acquireStream('a');
    release();
    release();
    expect(admission.streams()).toBe(1);
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
    expect(admission.ffmpegs()).toBe(1);
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
});
