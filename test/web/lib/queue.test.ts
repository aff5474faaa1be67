import { describe, expect, it } from 'vitest';
import type { Download, DownloadState } from '../../../web/src/lib/download.ts';
import { createSubject } from '../../../web/src/lib/observable.ts';
import { createQueue } from '../../../web/src/lib/queue.ts';

/** A download that does what it is told. */
function createPuppet() {
  const state = createSubject<DownloadState>({
    phase: 'ready',
    receivedBytes: 0,
    isEstimate: false,
    bytesPerSecond: 0,
    canResume: false,
    canRetry: false,
    isHandedOver: false,
  });
  const become = (phase: DownloadState['phase']) => state.set({ ...state.get(), phase });
  const download: Download = {
    fileName: 'file.mp4',
    state,
    start: async () => become('running'),
    pause: () => become('paused'),
    resume: () => become('running'),
    cancel: () => become('cancelled'),
  };
  return { download, become };
}
const set = (count: number) => {
  const queue = createQueue();
  const puppets = Array.from({ length: count }, createPuppet);
  const ids = puppets.map(({ download }) => queue.add(download));
  const phases = () => puppets.map(({ download }) => download.state.get().phase);
  const [one, two, three] = puppets;
  if (!one || !two || !three) throw new Error('Too few');
  return { queue, ids, one, two, three, phases };
};

describe('a queue', () => {
  it('takes one after another, whatever becomes of each', () => {
    const { queue, ids, one, two, three, phases } = set(3);
    expect(phases()).toEqual(['running', 'ready', 'ready']);
    expect(queue.state.get().currentId).toBe(ids[0]);
    one.become('done');
    expect(phases()).toEqual(['done', 'running', 'ready']);
    two.become('failed');
    expect(phases()).toEqual(['done', 'failed', 'running']);
    three.become('done');
    expect(queue.state.get()).toMatchObject({ doneCount: 2, failedCount: 1 });
    expect(queue.state.get()).not.toHaveProperty('currentId');
  });

  it('is held by one that is paused', () => {
    const { queue, ids, one, phases } = set(3);
    one.download.pause();
    expect(phases()).toEqual(['paused', 'ready', 'ready']);
    expect(queue.state.get().currentId).toBe(ids[0]);
    one.download.resume();
    one.become('done');
    expect(phases()).toEqual(['done', 'running', 'ready']);
  });

  it('begins none of those that wait when all are cancelled', () => {
    const { queue, phases } = set(3);
    const began: string[] = [];
    for (const { download } of queue.state.get().items)
      download.state.subscribe(({ phase }) => phase === 'running' && began.push(phase));
    queue.cancelAll();
    expect(phases()).toEqual(['cancelled', 'cancelled', 'cancelled']);
    expect(began).toEqual([]);
  });

  it('goes on when the current one is removed, and forgets it', () => {
    const { queue, ids, phases } = set(3);
    queue.remove(ids[0] ?? 0);
    expect(phases()).toEqual(['cancelled', 'running', 'ready']);
    expect(queue.state.get().items.map(({ id }) => id)).toEqual(ids.slice(1));
    queue.remove(99);
  });

  it('forgets what has ended, and what has failed leaves nothing behind', () => {
    const { queue, one, two, phases } = set(3);
    one.become('done');
    two.become('failed');
    queue.clearEnded();
    expect(queue.state.get().items).toHaveLength(1);
    expect(phases()).toEqual(['done', 'cancelled', 'running']);
  });

  it('begins again with one that is added after the end', () => {
    const { queue, one, two, three } = set(3);
    for (const puppet of [one, two, three]) puppet.become('done');
    const late = createPuppet();
    queue.add(late.download);
    expect(late.download.state.get().phase).toBe('running');
  });

  it('says nothing while only figures change', () => {
    const { queue, one } = set(3);
    let told = 0;
    queue.state.subscribe(() => told++);
    one.become('running');
    expect(told).toBe(0);
  });
});
