import { describe, expect, it } from 'vitest';
import { createAdmission } from '../../../stream-service/sessions/admission.ts';
import { clientOf } from '../../../stream-service/sessions/stream-sessions.ts';

const create = () => createAdmission({ maxStreams: 3, maxStreamsPerClient: 2, maxFfmpeg: 1 });
const refusal = (status: number) => expect.objectContaining({ details: expect.objectContaining({ status }) });

describe('admission', () => {
  it('bounds the streams of one client with 429 and those of all with 503', () => {
    const admission = create();
    admission.acquireStream('a');
    admission.acquireStream('a');
    expect(() => admission.acquireStream('a')).toThrow(refusal(429));
    admission.acquireStream('b');
    expect(() => admission.acquireStream('c')).toThrow(refusal(503));
    expect(admission.streams()).toBe(3);
  });

  it('says when to come back', () => {
    const admission = createAdmission({ maxStreams: 1, maxStreamsPerClient: 0, maxFfmpeg: 0 });
    const retry = expect.objectContaining({ headers: { 'retry-after': '10' } });
    expect(() => admission.acquireStream('a')).toThrow(retry);
    expect(() => admission.acquireFfmpeg()).toThrow(retry);
  });

  it('gives a place back once, however often it is released', () => {
    const admission = create();
    const release = admission.acquireStream('a');
    admission.acquireStream('a');
    release();
    release();
    expect(admission.streams()).toBe(1);
    admission.acquireStream('a');
    expect(() => admission.acquireStream('a')).toThrow(refusal(429));
  });

  it('bounds FFmpeg processes with 503, and lends one more only when there is one', () => {
    const admission = create();
    const release = admission.acquireFfmpeg();
    expect(() => admission.acquireFfmpeg()).toThrow(refusal(503));
    expect(admission.tryAcquireFfmpeg()).toBeUndefined();
    release();
    expect(admission.tryAcquireFfmpeg()).toBeTypeOf('function');
    expect(admission.ffmpegs()).toBe(1);
  });

  it('lets nobody in while it drains, and is drained with the last one out', async () => {
    const admission = create();
    const release = admission.acquireStream('a');
    let drained = false;
    const draining = admission.drain().then(() => {
      drained = true;
    });
    expect(() => admission.acquireStream('b')).toThrow(refusal(503));
    expect(drained).toBe(false);
    release();
    await draining;
  });

  it('is drained at once when nobody is inside', () => create().drain());
});

describe('clientOf', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '20010db800010002'],
    ['2001:db8:1:2::1', '20010db800010002'],
    ['unknown', 'unknown'],
  ])('%s counts as %s', (address, client) => expect(clientOf(address)).toBe(client));
});
