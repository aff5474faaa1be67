import { beforeEach, describe, expect, it } from 'vitest';
import type { Rendition, Track } from '../../../core/state/resource.ts';
import { type ApiFakes, ask, createApiFakes, jsonOf, RESOURCE } from '../fakes.ts';

const LINK = 'https://media.example/watch?v=1';
const query = (more: Record<string, string> = {}) => `/api/Get?${new URLSearchParams({ url: LINK, ...more })}`;
const [SMALL] = RESOURCE.renditions as readonly [Rendition];
const LARGE: Rendition = { ...SMALL, id: 'rendition-2', label: '2160p', height: 2160, formatIds: ['2'] };
const AUDIO: Rendition = { ...SMALL, id: 'rendition-3', side: 'audio', fileExtension: '.m4a', formatIds: ['3'] };
const ENTRY = { url: `${LINK}2`, title: 'Two', author: null, coverUrl: null, resourceId: 'r2' };
const LIST = { type: 'PlayList', title: 'List', author: 'Someone', coverUrl: null } as const;
const TRACK = { codec: 'av01', height: 2160 };

let fakes: ApiFakes;
beforeEach(() => {
  fakes = createApiFakes();
  const tracks = [{ formatId: '2', video: TRACK, audio: null } as Track];
  const resource = { ...RESOURCE, tracks, renditions: [LARGE, SMALL, AUDIO], mp3: { renditionId: AUDIO.id } };
  fakes.outcome = { type: 'Media', resource };
});

const streamOf = (id: string, search = '') => `/api/Stream/Media/${RESOURCE.id}${id}${search}`;

describe('GET /api/Get', () => {
  it.each([
    [{}, 'rendition-1', ''],
    [{ quality: 'best', codec: 'any' }, 'rendition-2', ''],
    [{ quality: '720P' }, 'rendition-1', ''],
    [{ quality: 'audio' }, 'rendition-3', ''],
    [{ quality: 'mp3' }, 'rendition-3', '?format=mp3'],
    [{ quality: '720p', format: 'MP3' }, 'rendition-1', '?format=mp3'],
    [{ quality: '1080p', subtitles: 'pt-BR', audio: 'all' }, 'rendition-1', '?subtitles=pt-BR&audio=all'],
    [{ quality: 'mp3', audio: ' de', tags: 'TRUE' }, 'rendition-3', '?format=mp3&tags=true&audio=de'],
    [{ quality: '720p', format: 'mp3', bitrate: '128', end: '3' }, 'rendition-1', '?format=mp3&bitrate=128&end=3'],
    [{ quality: 'mp3', skip: 'Intro, sponsor' }, 'rendition-3', '?format=mp3&skip=sponsor,intro'],
    [{ quality: 'audio', mark: 'hook' }, 'rendition-3', '?tags=true&mark=hook'],
    [{ format: ' ', bitrate: '', tags: '', subtitles: '', start: '', end: '', from: '' }, 'rendition-1', ''],
  ])('%j redirects to the stream', async (parameters, id, search) => {
    const { statusCode, headers, body } = await ask(fakes, query(parameters));
    expect([statusCode, body ?? '']).toEqual([302, '']);
    expect(
      decodeURIComponent(headers?.location as string).replace(/Media\/[\w-]*(?=rendition)/, `Media/${RESOURCE.id}`),
    ).toBe(streamOf(id, search));
    expect(headers?.['cache-control']).toBe('no-store');
  });

  it.each([
    [{ quality: '8k' }, 'quality must be best, worst, audio, mp3, or a height such as 1080p'],
    [{ format: 'zip', subtitles: 'en' }, 'start, end, chapter and subtitles apply to a file, not an archive'],
    [{ format: 'zip', entries: '9,7-3' }, 'Ranges of entries must end with the later one'],
    [{ format: 'zip', split: 'chapters', mark: 'intro' }, 'split cannot be combined with mark'],
    [{ quality: '720p', bitrate: '320' }, 'bitrate applies to MP3 only'],
    [{ quality: '1080p,720p' }, 'quality must be best, worst, audio, mp3, or a height such as 1080p'],
    [{ format: 'wma' }, 'format must be mp3, m4a, opus, wav, zip, or absent'],
    [
      { skip: 'ads' },
      'skip must be of sponsor, selfpromo, interaction, intro, outro, preview, hook, filler, music_offtopic, separated by commas',
    ],
    [{ start: '-5', end: '-9' }, 'end must be later than start'],
  ])('rejects %j without a resolve', async (parameters, detail) => {
    const answer = await ask(fakes, query(parameters));
    expect(jsonOf(answer)).toEqual({ type: '/problems/bad-parameter', title: 'Bad Request', status: 400, detail });
    expect(fakes.resolves).toEqual([]);
  });

  it('redirects to what a live stream holds, which a recording is refused', async () => {
    const refused = await ask(fakes, query({ start: '-300' }));
    expect(refused.statusCode).toBe(400);
    fakes.outcome = { type: 'Media', resource: { ...RESOURCE, isLive: true } };
    const { headers } = await ask(fakes, query({ start: '-300', end: '-60.5' }));
    expect(headers?.location).toMatch(/\?start=-300&end=-60\.5$/);
  });

  it.each([
    [{}, '?format=zip'],
    [{ quality: 'MP3', bitrate: '320', from: '3' }, '?quality=mp3&bitrate=320&format=zip&from=3'],
  ])('redirects format=zip with %j to the archive of a list, whose entries it stores', async (more, search) => {
    fakes.outcome = { ...LIST, items: [{ entry: ENTRY }] };
    const { statusCode, headers } = await ask(fakes, query({ format: 'zip', ...more }));
    const [list] = fakes.lists;
    expect([statusCode, headers?.location]).toEqual([302, `/api/Stream/Archive/${list?.id}${search}`]);
    expect(list).toMatchObject({ url: LINK, title: 'List', author: 'Someone', entries: [ENTRY] });
    expect(list?.id).toMatch(/^[\w-]{33}$/);
    expect(list?.expiresAt).toBeGreaterThan(Date.now() / 1000 + 86_000);
  });

  it('redirects to the archive of selected entries, which has a key of its own', async () => {
    fakes.outcome = { ...LIST, items: [{ entry: ENTRY }] };
    const selections: Record<string, string>[] = [{}, { entries: '1-3,7' }, { entries: '1-3,8' }];
    for (const more of selections) await ask(fakes, query({ format: 'zip', ...more }));
    expect(fakes.lists.map(({ selected }) => selected?.join(' '))).toEqual([undefined, '1,3 7,7', '1,3 8,8']);
    expect(new Set(fakes.lists.map(({ id }) => id)).size).toBe(3);
  });

  it('stores a single item as a list of one, without userinfo in its link', async () => {
    await ask(fakes, query({ url: 'https://me:secret@media.example/v#x', format: 'zip' }));
    expect(fakes.lists).toMatchObject([
      { url: 'https://media.example/v', entries: [{ url: 'https://media.example/v', resourceId: RESOURCE.id }] },
    ]);
  });

  it('answers 404 for an archive of a list without entries', async () => {
    fakes.outcome = { ...LIST, items: [] };
    expect((await ask(fakes, query({ format: 'zip' }))).statusCode).toBe(404);
  });

  it('answers 404 for a quality that the item does not have', async () => {
    fakes.outcome = { type: 'Media', resource: { ...RESOURCE, mp3: undefined } };
    expect((await ask(fakes, query({ quality: 'mp3' }))).statusCode).toBe(404);
  });

  it('has all entries of a list resolved, of an archive or a feed the first 50 that are selected', async () => {
    fakes.outcome = { ...LIST, items: [{ entry: ENTRY, resource: RESOURCE }] };
    const requests = [query(), query({ format: 'zip' }), query({ format: 'zip', entries: '7-9' })];
    for (const path of [...requests, query().replace('Get', 'Feed'), query().replace('Get', 'Stream/Archive')])
      await ask(fakes, path);
    const first = { max: 50, selected: undefined };
    const selected = { max: 50, selected: [[7, 9]] };
    expect(fakes.resolves.map(({ ahead }) => ahead)).toEqual([undefined, first, selected, first, first]);
  });

  it('takes a playlist of one entry for that entry, and rejects others', async () => {
    const resolved = { entry: ENTRY, resource: RESOURCE };
    const statuses: unknown[] = [];
    for (const items of [[resolved], [{ entry: ENTRY }], [resolved, { entry: ENTRY }]]) {
      fakes.outcome = { ...LIST, items };
      statuses.push((await ask(fakes, query())).statusCode);
    }
    expect(statuses).toEqual([302, 404, 415]);
  });
});
