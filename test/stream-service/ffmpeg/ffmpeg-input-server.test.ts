import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { PassThrough, type Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { SegmentedSource, Source } from '@reelay/source';
import { describe, expect, it } from 'vitest';
import { createFfmpegInputServer } from '../../../stream-service/ffmpeg/ffmpeg-input-server.ts';
import { closeAfterwards } from '../../support/close-afterwards.ts';
import { sendRequest } from '../../support/request.ts';
import { failingSource, openResponse, until } from '../fixture.ts';
import { fileSource } from '../outputs/encode/mp3/fixture.ts';

const bytes = randomBytes(200_000);
const loopback = closeAfterwards(await createFfmpegInputServer());

describe('createFfmpegInputServer', () => {
  it('serves a file by range at an unguessable path', async () => {
    const input = loopback.serve(fileSource(bytes));
    expect(input.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{24}$/);
    const part = await sendRequest(input.url, { headers: { range: 'bytes=100-' } });
    expect(part.status).toBe(206);
    expect(part.headers['content-range']).toBe('bytes 100-65635/200000');
    expect(part.body.equals(bytes.subarray(100, 65_636))).toBe(true);
    expect((await sendRequest(input.url)).body.equals(bytes)).toBe(true);
    expect((await sendRequest(input.url, { headers: { range: 'bytes=200000-' } })).status).toBe(416);
    expect(input.failure()).toBeUndefined();
  });

  it('serves a file of unknown size only from its beginning', async () => {
    const input = loopback.serve({ ...fileSource(bytes), size: undefined });
    const { status, headers, body } = await sendRequest(input.url, { headers: { range: 'bytes=100-' } });
    expect(status).toBe(200);
    expect(body.equals(bytes)).toBe(true);
    expect(headers).not.toHaveProperty('accept-ranges');
  });

  describe('of segments', () => {
    const segments = (stream: () => Readable): SegmentedSource => ({
      needsRemux: true,
      size: undefined,
      durationSeconds: 10,
      readAll: stream,
      close: () => undefined,
    });

    it('writes to a descriptor of the process', async () => {
      const { url, args, writeTo, failure } = loopback.serve(
        segments(() => fileSource(bytes).read(0)),
        { index: 1 },
      );
      expect(url).toBe('pipe:4');
      expect(args.join(' ')).toContain('-protocol_whitelist pipe ');
      const pipe = new PassThrough();
      writeTo?.(pipe);
      expect((await buffer(pipe)).equals(bytes)).toBe(true);
      expect(failure()).toBeUndefined();
    });

    it('reads no more than a pipe takes, and stops when the input is closed', async () => {
      const source = fileSource(randomBytes(20_000_000));
      const input = loopback.serve(segments(() => source.read(0)));
      const pipe = new PassThrough();
      input.writeTo?.(pipe);
      await once(pipe, 'readable');
      expect(pipe.readableLength).toBeLessThan(500_000);
      input.close();
      await until(() => source.reading.size === 0);
      expect(input.failure()).toBeUndefined();
    });

    it('aborts `failed` before the process sees the truncated input', async () => {
      const source = failingSource(fileSource(bytes), 100_000);
      const input = loopback.serve(segments(() => source.read(0)));
      const pipe = new PassThrough();
      const seen = new Promise<Error | undefined>((resolve) => pipe.once('close', () => resolve(input.failure())));
      pipe.on('error', () => undefined).resume();
      input.writeTo?.(pipe);
      source.fail();
      expect(await seen).toEqual(new Error('The source failed'));
      expect(input.failed.reason).toBe(input.failure());
    });
  });

  it('answers 404 for unknown paths and for closed inputs', async () => {
    const input = loopback.serve(fileSource(bytes));
    const { origin } = new URL(input.url);
    for (const path of ['/', '/x', '/../', '/favicon.ico']) expect((await sendRequest(origin + path)).status).toBe(404);
    expect((await sendRequest(input.url, { method: 'POST' })).status).toBe(404);
    input.close();
    expect((await sendRequest(input.url)).status).toBe(404);
  });

  it('aborts `failed` before the reader sees the truncated body', async () => {
    const source = failingSource(fileSource(bytes), 100_000);
    const input = loopback.serve(source);
    const answer = await openResponse(input.url);
    const seen = new Promise<Error | undefined>((resolve) => answer.once('error', () => resolve(input.failure())));
    answer.resume();
    source.fail();
    expect(await seen).toEqual(new Error('The source failed'));
    expect(input.failed.reason).toBe(input.failure());
  });

  it('delays the response while the source is being opened', async () => {
    const opening = Promise.withResolvers<Source>();
    const answer = sendRequest(loopback.serve(opening.promise).url);
    opening.resolve(fileSource(bytes));
    expect((await answer).body.equals(bytes)).toBe(true);
  });

  it('aborts `failed` when the source cannot be opened', async () => {
    const opening = Promise.withResolvers<Source>();
    const input = loopback.serve(opening.promise);
    const answer = sendRequest(input.url);
    opening.reject(new Error('Gone'));
    await expect(answer).rejects.toThrow();
    expect(input.failure()).toEqual(new Error('Gone'));
  });

  it.each<[string, (answer: IncomingMessage, input: { close(): void }) => unknown]>([
    ['the reader disconnects', (answer) => answer.destroy()],
    ['the input is closed', (_, input) => input.close()],
  ])('stops reading the source when %s, without a failure', async (_, end) => {
    const source = fileSource(randomBytes(20_000_000));
    const input = loopback.serve(source);
    const answer = await openResponse(input.url);
    answer.once('error', () => undefined);
    expect(source.reading.size).toBe(1);
    end(answer, input);
    await until(() => source.reading.size === 0);
    expect(input.failure()).toBeUndefined();
  });
});
