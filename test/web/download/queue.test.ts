import { describe, expect, it } from 'vitest';
import type { Download } from '../../../web/src/download/download.ts';
import { type DownloadState, INITIAL_STATE } from '../../../web/src/download/download-state.ts';
import { createQueue } from '../../../web/src/download/queue.ts';
import { createSubject } from '../../../web/src/lib/observable.ts';

/** A download under the test's control. */
function createPuppet() {
  const state = createSubject(INITIAL_STATE);
  const become = (phase: DownloadState['phase']) => state.set({ ...state.get(), phase });
  const download: Download = {
    id: 'file',
    fileName: 'file.mp4',
    state,
    record: () => undefined,
    start: async () => become('running'),
    pause: () => become('paused'),
    resume: () => become('running'),
    stopAndSave: () => become('done'),
    cancel: () => become('cancelled'),
  };
  return { download, become };
}
const set = (count: number) => {
  const queue = createQueue();
  const puppets = Array.from({ length: count }, createPuppet);
  for (const { download } of puppets) queue.add(download);
  const phases = () => puppets.map(({ download }) => download.state.get().phase);
  const [one, two, three] = puppets;
  if (!one || !two || !three) throw new Error('Too few');
  return { queue, puppets, one, two, three, phases };
};

describe('createQueue', () => {
  it('runs two at a time, whatever the outcome of each', () => {
    const { one, two, phases } = set(4);
    expect(phases()).toEqual(['running', 'running', 'ready', 'ready']);
    one.become('done');
    expect(phases()).toEqual(['done', 'running', 'running', 'ready']);
    two.become('failed');
    expect(phases()).toEqual(['done', 'failed', 'running', 'running']);
  });

  it('is not blocked by a paused download', () => {
    const { one, phases } = set(3);
    one.download.pause();
    expect(phases()).toEqual(['paused', 'running', 'running']);
  });

  it('continues when a running one is removed and skips removed ones', () => {
    const { queue, one, three, phases } = set(4);
    queue.remove(three.download);
    queue.remove(one.download);
    expect(phases()).toEqual(['running', 'running', 'ready', 'running']);
  });

  it('starts queued downloads in a new order', () => {
    const { queue, puppets, one, phases } = set(5);
    queue.sort(puppets.map(({ download }) => download).toReversed());
    one.become('done');
    expect(phases()).toEqual(['done', 'running', 'ready', 'ready', 'running']);
  });

  it('starts a download added to an idle queue', () => {
    const { queue, one, two, three } = set(3);
    for (const puppet of [one, two, three]) puppet.become('done');
    const late = createPuppet();
    queue.add(late.download);
    expect(late.download.state.get().phase).toBe('running');
  });
});
