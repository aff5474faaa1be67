import { join as pathOf } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { createGuardedFetch } from '@reelay/guarded-fetch';
import { clip, join, respond, UnsupportedMp4, type VirtualFile } from '@reelay/seekable-media';
import { describe, expect, it } from 'vitest';
import { closeAfterwards } from '../../../test/support/close-afterwards.ts';
import { packetsOf, picturesOf, probeBody } from '../../../test/support/media-tools.ts';
import { serveMedia } from '../../seekable-media/test/served-media.ts';
import { fromDash, fromHls } from '../src/index.ts';

const media = await serveMedia();
const egress = closeAfterwards(createGuardedFetch({ allow: [media.host] }));
const open = (name: string) => fromHls(`${media.url}/${name}.m3u8`, { egress, limits: { maxAttempts: 1 } });
const bytesOf = (file: VirtualFile): Promise<Buffer> => buffer(file.read(0, file.size));
const pathTo = (name: string) => pathOf(media.folder, name);

/** Expects a file to have the packets of the files that its lists were made of. */
async function expectPackets(file: VirtualFile, sides: readonly ('v' | 'a')[], digest = packetsOf): Promise<void> {
  const whole = await bytesOf(file);
  expect(file.size).toBe(whole.length);
  for (const side of sides) {
    const source = pathTo(side === 'v' ? 'video.mp4' : 'audio.m4a');
    expect(await digest(whole, side)).toEqual(await digest(source, side));
  }
  const end = await respond(new Request('http://a.test/', { headers: { range: 'bytes=-5000' } }), file).arrayBuffer();
  expect(Buffer.from(end).equals(whole.subarray(-5000))).toBe(true);
}

/** In a transport stream, packets of H.264 have other lengths and parameter sets, and times other units. */
const contentOf: typeof packetsOf = async (file, side) =>
  side === 'v' ? picturesOf(file) : (await packetsOf(file, side)).map((packet) => packet.split(' ')[1] ?? '');

describe('fromHls', () => {
  it.each([
    ['ts', ['v', 'a'], 'video/mp4'],
    ['picture', ['v'], 'video/mp4'],
    ['sound', ['a'], 'audio/mp4'],
  ] as const)('makes one file with the packets of the list %s', async (name, sides, type) => {
    const file = await open(name);
    expect(file).toMatchObject({ type, durationSeconds: expect.closeTo(12, 0) });
    await expectPackets(file, sides, name === 'ts' ? contentOf : packetsOf);
  });

  it('makes lists that are joined', async () => {
    await expectPackets(await join([await open('picture'), await open('sound')]), ['v', 'a']);
  });

  it('makes a file of which a part is taken', async () => {
    const part = await bytesOf(await clip(await open('ts'), 3, 5));
    expect(await probeBody(part, '.mp4')).toMatchObject({ durationSeconds: expect.closeTo(2, 1) });
  });

  it('says why a list makes no file', async () => {
    const failure = await open('nowhere').catch((error) => error);
    expect(failure).toBeInstanceOf(UnsupportedMp4);
    expect(failure.cause).toMatchObject({ message: 'Upstream URL is gone' });
  });

  it('ends with its signal', async () => {
    const opening = new AbortController();
    media.use((request, _response, next) =>
      request.url?.endsWith('.ts') ? opening.abort(new Error('Enough')) : next(),
    );
    try {
      const file = fromHls(`${media.url}/ts.m3u8`, { egress, signal: opening.signal });
      await expect(file).rejects.toThrow('Enough');
    } finally {
      media.use((_request, _response, next) => next());
    }
  });
});

describe('fromDash', () => {
  it('makes one file of the segments of a representation', async () => {
    const segments = ['picture.mp4', ...[0, 1, 2].map((index) => `picture${index}.m4s`)];
    const fragments = segments.map((name, index) => ({
      url: `${media.url}/${name}`,
      seconds: index > 0 ? 4 : 0,
    }));
    await expectPackets(await fromDash(fragments, { egress }), ['v']);
  });

  it('fails without segments', async () => {
    await expect(fromDash([], { egress })).rejects.toThrow(UnsupportedMp4);
  });
});
