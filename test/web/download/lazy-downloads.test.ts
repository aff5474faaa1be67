import { describe, expect, it, vi } from 'vitest';
import { createLazyDownloads, type DownloadActions } from '../../../web/src/ui/downloads-state.ts';

const createActions = () => ({ restore: vi.fn(async () => undefined), pauseAll: vi.fn() }) as Partial<DownloadActions>;

describe('createLazyDownloads', () => {
  it('has its state before the actions are loaded, which throw until then', () => {
    const downloads = createLazyDownloads(() => new Promise(() => undefined));
    expect(downloads.list.get()).toEqual([]);
    expect(() => downloads.pauseAll()).toThrow('not loaded');
  });

  it('loads the actions once, and restores what an earlier page left', async () => {
    const actions = createActions();
    const load = vi.fn(async () => actions as DownloadActions);
    const downloads = createLazyDownloads(load);
    await Promise.all([downloads.load(), downloads.load()]);
    downloads.pauseAll();
    expect(load).toHaveBeenCalledOnce();
    expect(load).toHaveBeenCalledWith({ list: downloads.list, isOpen: downloads.isOpen });
    expect(actions.restore).toHaveBeenCalledOnce();
    expect(actions.pauseAll).toHaveBeenCalledOnce();
  });

  it('loads again after a failure', async () => {
    const answers = [Promise.reject(new TypeError('Failed to fetch')), Promise.resolve(createActions())];
    const downloads = createLazyDownloads(() => answers.shift() as Promise<DownloadActions>);
    await expect(downloads.load()).rejects.toThrow('Failed to fetch');
    await downloads.load();
    expect(() => downloads.pauseAll()).not.toThrow();
  });
});
