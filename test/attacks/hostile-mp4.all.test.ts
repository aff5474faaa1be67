import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { writeFragmentedMovie } from '@reelay/seekable-media/isobmff';
import { beforeAll, describe, expect, it } from 'vitest';
import { keyOf, resourceId } from '../../core/state/keys.ts';
import { createDiscontinuityFilter } from '../../packages/source/src/segmented/discontinuity-filter.ts';
import type { OpenSource } from '../../stream-service/source/open-source.ts';
import { ensureMedia } from '../origin/media.ts';
import {
  audioTrack,
  renditionOf,
  resourceOf,
  type Service,
  startService,
  videoTrack,
} from '../stream-service/fixture.ts';
import { readTemplate } from '../stream-service/outputs/layout/generated-source.ts';
import { expectShortTurns } from '../support/event-loop-turns.ts';
import { FRAGMENTS, GOOD_MP4, HOSTILE_MP4, type HostileMp4, hostileSource } from './hostile-mp4.ts';

const media = await ensureMedia();
const header = readTemplate(`${media}/ladder/h264-360.mp4`, 'vide', 90_000);
const audio = hostileSource(await readFile(`${media}/ladder/aac-128.m4a`));

/**
 * What is requested of the file: each form of a pair, which needs every step that a form of the file alone does.
 * @param isAlone requests the forms of the file alone, too
 */
const pathsOf = (id: string, isAlone: boolean) => {
  const file = keyOf(id, renditionOf(['video']).id);
  const pair = keyOf(id, renditionOf(['video', 'audio']).id);
  return [
    `/api/Stream/Media/${pair}`,
    `/api/Stream/Media/${pair}?start=0&end=3`,
    `/api/Stream/Hls/${pair}/master.m3u8`,
    ...(isAlone ? [`/api/Stream/Media/${file}?start=0&end=3`, `/api/Stream/Hls/${file}/video.mp4`] : []),
  ];
};
/** Sent, refused as something that has no such form, or broken off; 503: left to FFmpeg, which is not installed here. */
const STATUSES = [200, 400, 404, 415, 502, 503];
/** Of a response: enough to pass several fragments. */
const MAX_READ_BYTES = 10 * 1024 * 1024;

/** Reads the start of a response. @returns its status */
function readStart(url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent: false }, (response) => {
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > MAX_READ_BYTES) response.destroy();
      });
      response.on('error', () => undefined).once('close', () => resolve(response.statusCode));
    });
    sent.once('error', reject).end();
  });
}

/** One service for all files, each of which is another resource: the processes that parse start once. */
let service: Service;
const heads = new Map<string, Buffer>();
beforeAll(async () => {
  const resource = resourceOf([videoTrack(), audioTrack()], { durationSeconds: 60 });
  const video: OpenSource = async ({ id }) => hostileSource(heads.get(id) ?? Buffer.alloc(0));
  service = await startService((id) => ({ ...resource, id }), { video, audio }, { ffmpeg: () => undefined });
});

/** The statuses of all paths, requested one after the other. */
async function statusesOf({ name, make }: HostileMp4, isAlone = false): Promise<(number | undefined)[]> {
  const head = make(header);
  return expectShortTurns(async (attempt) => {
    const id = resourceId({ url: 'https://site.example/', extractor: 'Test', entryId: `${name} ${attempt}` });
    heads.set(id, head);
    const statuses: (number | undefined)[] = [];
    for (const path of pathsOf(id, isAlone)) statuses.push(await readStart(service.url + path));
    heads.delete(id);
    return statuses;
  });
}

describe('an MP4 file', () => {
  it.each(GOOD_MP4)('with $name is sent in every form', async (file) => {
    expect(await statusesOf(file, true)).toEqual([200, 200, 200, 200, 200]);
  });

  it.each(HOSTILE_MP4)('with $name takes no long turn of the event loop', async (file) => {
    for (const status of await statusesOf(file)) expect(STATUSES).toContain(status);
  });
});

describe('segments joined across a discontinuity', () => {
  const movie = writeFragmentedMovie([{ header, durationSeconds: 60 }]);

  it.each(Object.entries(FRAGMENTS))('with %s take no long turn of the event loop', async (_, make) => {
    const fragment = make();
    const filter = createDiscontinuityFilter();
    const pass = (part: ReturnType<typeof filter.init>, bytes: Buffer) =>
      part.update(bytes).length + part.final().length;
    await expectShortTurns(async () => {
      pass(filter.init(), movie);
      for (const startSeconds of [10, 20]) {
        // A refused segment ends the stream, with an error of its own.
        try {
          pass(filter.segment(startSeconds), fragment);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
          expect((error as Error).message).toMatch(/^(Too many boxes|Box moof of \d+ bytes exceeds the size limit)$/);
        }
        await setImmediate();
      }
    });
  });
});
