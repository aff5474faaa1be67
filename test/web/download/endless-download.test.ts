import { describe, expect, it } from 'vitest';
import type { DownloadState } from '../../../web/src/download/download-state.ts';
import { createFaultHandler } from '../../origin/faults.ts';
import { digestOf, serve, setUp, someBytes, until } from '../fakes/byte-sources.ts';

const PIECE = someBytes(50_000);

/** Sends one chunk, then nothing until the client disconnects or the test drops the connection. */
async function broadcast() {
  let open = 0;
  let breakOff: () => void = () => undefined;
  const url = await serve((_, response) => {
    open++;
    response.once('close', () => open--);
    breakOff = () => response.destroy();
    response.writeHead(200, { 'content-type': 'audio/mpeg' }).write(PIECE);
  });
  return { url, isOpen: () => open > 0, breakOff: () => breakOff() };
}
const hasCome = ({ receivedBytes }: DownloadState) => receivedBytes === PIECE.length;

describe('endless stream', () => {
  it.each(['running', 'paused'])('saves what was received when stopped while %s', async (phase) => {
    const { url, isOpen } = await broadcast();
    const { download, sink } = setUp(url);
    const ended = download.start();
    await until(download, hasCome);
    if (phase === 'paused') download.pause();
    expect(download.state.get()).toMatchObject({ phase, canStopAndSave: true });
    download.stopAndSave();
    await ended;
    expect(download.state.get()).toMatchObject({ phase: 'done', totalBytes: PIECE.length, canStopAndSave: false });
    expect([sink.ended, digestOf(sink.bytes)]).toEqual(['closed', digestOf(PIECE)]);
    await expect.poll(isOpen).toBe(false);
  });

  it('saves what was received after a lost connection', async () => {
    const { url, breakOff } = await broadcast();
    const { download, sink } = setUp(url);
    const ended = download.start();
    await until(download, hasCome);
    breakOff();
    await ended;
    expect(download.state.get()).toMatchObject({
      phase: 'failed',
      failure: { kind: 'interrupted' },
      canStopAndSave: true,
    });
    download.stopAndSave();
    await until(download, ({ phase }) => phase === 'done');
    expect([sink.ended, digestOf(sink.bytes)]).toEqual(['closed', digestOf(PIECE)]);
  });

  it('is discarded when cancelled', async () => {
    const { url } = await broadcast();
    const { download, sink } = setUp(url);
    const ended = download.start();
    await until(download, hasCome);
    download.cancel();
    await ended;
    expect([download.state.get().canStopAndSave, sink.ended]).toEqual([false, 'aborted']);
  });

  it.each([
    ['tells its length', {}, undefined],
    ['is expected to have one', { etag: null }, 600_000],
  ])('excludes what %s, of which a part is no valid file', async (_, options, expectedBytes) => {
    const fault = { name: 'throttle', bytesPerSecond: 1_000_000 } as const;
    const url = await serve(createFaultHandler({ bytes: someBytes(600_000), fault, ...options }));
    const { download, sink } = setUp(url, expectedBytes === undefined ? {} : { expectedBytes });
    const ended = download.start();
    await until(download, ({ receivedBytes }) => receivedBytes > 0);
    expect(download.state.get().canStopAndSave).toBe(false);
    download.stopAndSave();
    expect(sink.ended).toBeUndefined();
    download.cancel();
    await ended;
  });
});
