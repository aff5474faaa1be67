import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { keyOf } from '../../../core/state/keys.ts';
import { createFaultHandler } from '../../origin/faults.ts';
import { madeBy } from '../../origin/media.ts';
import { asProblem } from '../../support/as-problem.ts';
import { inspect, packetsOf, picturesOf } from '../../support/media-tools.ts';
import { expectSeekable } from '../../support/seekable.ts';
import { segmentsIn, timelineOf, useResolvedDash } from './dash-fixture.ts';

/** Through the real yt-dlp: manifests of several periods, whose segments FFmpeg has made. */
const dash = (name: string, seconds: number, size: string, tone: number) => [
  ...['-f', 'lavfi', '-i', `testsrc=s=${size}:r=25:d=${seconds}`],
  ...['-f', 'lavfi', '-i', `sine=${tone}:r=48000:d=${seconds}`],
  ...['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '100', '-bf', '2', '-c:a', 'aac', '-b:a', '32k', '-f', 'dash'],
  ...['-seg_duration', '4', '-adaptation_sets', 'id=0,streams=v id=1,streams=a'],
  ...['-use_template', '1', '-use_timeline', '1'],
  ...['-init_seg_name', `${name}-$RepresentationID$.mp4`, '-media_seg_name', `${name}-$RepresentationID$-$Number$.m4s`],
  `${name}.mpd`,
];
const folder = await madeBy([
  dash('whole', 36, '64x48', 500),
  dash('first', 12, '64x48', 400),
  dash('ad', 12, '96x48', 600),
  dash('last', 12, '64x48', 800),
]);
const pathOf = (path: string) => join(folder, path);

const dashSite = await useResolvedDash((path, response) => {
  // The name of the folder is that of the base URL alone.
  createFaultHandler({ bytes: readFileSync(pathOf(path.replace(/^.*\//, ''))) })(response.req, response);
});

/** What FFmpeg lists of a file, as a period with the bandwidth and the base URL of its own. */
const periodOf = (name: string, index: number) =>
  (/<Period[^>]*>(.*)<\/Period>/s.exec(readFileSync(pathOf(`${name}.mpd`), 'utf8'))?.[1] ?? '')
    .replaceAll(/bandwidth="(\d)/g, `bandwidth="${index + 1}$1`)
    .replace(/^/, `<BaseURL>${name}/${index}/</BaseURL>`);
const periods = (...texts: readonly string[]) =>
  texts.map((text, index) => `<Period id="${index}" start="PT${12 * index}S">${text}</Period>`).join('');

/** Twelve seconds of one. */
const partOf = (name: string, index: number) =>
  periodOf(name, index).replaceAll(/ timescale="(\d+)"(.*?) startNumber="1">(.*?)<\/SegmentTemplate>/gs, (...found) => {
    const [, timescale, names, list = ''] = found.map(String);
    const segments = segmentsIn(list);
    const [from, to] = [3 * index, index === 2 ? segments.length : 3 * index + 3];
    const offset = `presentationTimeOffset="${12 * index * Number(timescale)}" startNumber="${from + 1}"`;
    return ` timescale="${timescale}"${names} ${offset}>${timelineOf(segments.slice(from, to))}</SegmentTemplate>`;
  });
const AD = [periodOf('first', 0), periodOf('ad', 1), periodOf('last', 2)] as const;

const resolve = (text: string, root = 'type="static" mediaPresentationDuration="PT36S"') =>
  dashSite.resolve(() => `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" ${root}>${text}</MPD>`);

const START = /^.*\//;
/** The segments of each track by their names. */
async function listOf(...parameters: Parameters<typeof resolve>) {
  const { tracks } = await resolve(...parameters);
  return Object.fromEntries(
    tracks.map(({ formatId, fragments }) => {
      const names = fragments?.urls.split('\n').map((url) => url.replace(START, '').replace('.m4s', '')) ?? [];
      return [formatId, names.filter((name) => !name.endsWith('.mp4')).join(' ')];
    }),
  );
}

/** The best rendition as a file. */
async function download(text: string): Promise<Buffer> {
  const resource = await resolve(text);
  const { url } = await dashSite.start(resource, { maxTableWaitMs: 60_000 });
  const [best, ...others] = resource.renditions.filter(({ formatIds }) => formatIds.length > 1);
  expect(others).toEqual([]);
  const { body } = await expectSeekable(`${url}/api/Stream/Media/${keyOf(resource.id, best?.id ?? '')}`);
  return body;
}

const digestOf = (packet: string) => packet.split(' ')[1];
const timeOf = (packet = '') => Number(packet.split(' ')[0]);

/** A period without media: the segments of these representations are listed alone. */
const listing = (...representations: readonly string[]) =>
  representations
    .map((representation) => {
      const [type, name] = /codecs="(?:mp4a|opus)/.test(representation) ? ['audio', 'a'] : ['video', 'v'];
      const template = `<SegmentTemplate initialization="$RepresentationID$.mp4" media="$RepresentationID$-${name}$Number$.m4s" duration="5"/>`;
      return `<AdaptationSet mimeType="${type}/mp4">${template}<Representation bandwidth="9000" ${representation}/></AdaptationSet>`;
    })
    .join('');
const [AVC, AAC] = ['codecs="avc1.42c00a"', 'codecs="mp4a.40.2"'];

describe('DASH of several periods', () => {
  it('is one file of all of them, at the same times, whatever their bandwidths, base URLs and sizes are', async () => {
    const body = await download(periods(...AD));
    const [video, audio] = [await packetsOf(body, 'v'), await packetsOf(body, 'a')];
    expect(video).toHaveLength(900);
    const manifests = ['first', 'ad', 'last'].map((name) => pathOf(`${name}.mpd`));
    const sounds = await Promise.all(manifests.map((manifest) => packetsOf(manifest, 'a')));
    expect(audio.map(digestOf)).toEqual(sounds.flat().map(digestOf));
    // With the parameter sets of their period: packets differ from those of the source.
    const pictures = await Promise.all(manifests.map((manifest) => picturesOf(manifest)));
    expect(await picturesOf(body)).toEqual(pictures.flat());
    // A frame that the encoder adds in front of the sound is shown with the first picture where there is nothing before it.
    const times = [300, 600].map((index) => [timeOf(video[index]), timeOf(audio[index === 300 ? 564 : 1128])]);
    expect(times).toEqual([
      [12_000, 12_000],
      [24_000, 24_000],
    ]);
  });

  it('has its pictures and its sound at their times where the clock goes on', async () => {
    const body = await download(periods(...[0, 1, 2].map((index) => partOf('whole', index))));
    expect(await packetsOf(body, 'v')).toEqual(await packetsOf(pathOf('whole.mpd'), 'v'));
    expect(await packetsOf(body, 'a')).toEqual(await packetsOf(pathOf('whole.mpd'), 'a'));
    const { complaints, codecs, durationSeconds } = await inspect(body, '.mp4');
    expect({ complaints, codecs, seconds: Math.round(durationSeconds) }).toEqual({
      complaints: '',
      codecs: ['h264', 'aac'],
      seconds: 36,
    });
  });

  it('goes on by language, then by height, id and order, as often as the longest of them has it', async () => {
    const content = listing(
      ...[`id="v1" height="360" ${AVC}`, `id="v2" height="1080" ${AVC}`],
      ...[`id="en" lang="en" ${AAC}`, `id="described" lang="en" ${AAC}`, `id="nl" lang="nl" ${AAC}`],
    );
    const ad = listing(
      ...[`id="v0" height="720" ${AVC}`, `id="v9" height="240" ${AVC}`],
      ...[`id="a0" lang="nl" ${AAC}`, `id="a1" lang="en" ${AAC}`, `id="a2" lang="en" ${AAC}`],
    );
    const listed = await listOf(
      `<Period start="PT0S">${ad}</Period><Period start="PT4S">${content}</Period><Period start="PT16S">${ad}</Period>`,
      'type="static" mediaPresentationDuration="PT18S"',
    );
    const through = (id: string, part: string, name: string) =>
      [`${part}-${name}1`, ...[1, 2, 3].map((number) => `${id}-${name}${number}`), `${part}-${name}1`].join(' ');
    expect(listed).toEqual({
      v1: through('v1', 'v9', 'v'),
      v2: through('v2', 'v0', 'v'),
      en: through('en', 'a1', 'a'),
      described: through('described', 'a2', 'a'),
      nl: through('nl', 'a0', 'a'),
    });
  });

  it('leaves out what does not go on through all of them', async () => {
    const [both, one] = [listing(`id="1" ${AVC}`, 'id="2" codecs="vp09.00.10.08"'), listing(`id="3" ${AVC}`)];
    expect(Object.keys(await listOf(periods(both, one, both)))).toEqual(['1']);
  });

  const FILE = `<AdaptationSet mimeType="video/mp4"><Representation id="1" bandwidth="9000" ${AVC}><BaseURL>a.mp4</BaseURL></Representation></AdaptationSet>`;
  it.each<[string, ...string[]]>([
    ['other codecs', listing(`id="1" ${AVC}`), listing('id="1" codecs="hvc1.1.6.L60.90"')],
    ['sound in one alone', listing(`id="1" ${AVC}`, `id="2" ${AAC}`), listing(`id="1" ${AVC}`)],
    ['nothing in one', listing(`id="1" ${AVC}`), ''],
    ['files', FILE, FILE.replace('a.mp4', 'b.mp4')],
  ])('with %s is refused', async (_, ...parts) => {
    await expect(asProblem(resolve(periods(...parts)))).rejects.toMatchObject({
      details: {
        status: 415,
        detail: expect.stringMatching(/^The periods of this DASH manifest do not make one file/),
      },
    });
  });

  it('has the subtitles of a file that all of them name alone', async () => {
    const text = (lang: string, url: string) =>
      `<AdaptationSet mimeType="text/vtt" lang="${lang}"><Representation id="${lang}" bandwidth="1"><BaseURL>${url}</BaseURL></Representation></AdaptationSet>`;
    const period = (part: string) => listing(`id="1" ${AVC}`) + text('en', 'all.vtt') + text('nl', `${part}.vtt`);
    const { subtitles } = await resolve(periods(period('a'), period('b')));
    expect(subtitles?.map(({ language }) => language)).toEqual(['en']);
  });

  it('that is live is listed from the oldest one that goes on until now', async () => {
    const timeline = '<SegmentTimeline><S t="0" d="2" r="1"/></SegmentTimeline>';
    const period = (id: string, codecs: string) =>
      listing(`id="${id}" ${codecs}`).replace(' duration="5"/>', `>${timeline}</SegmentTemplate>`);
    const root = 'type="dynamic" availabilityStartTime="2025-01-01T00:00:00Z"';
    const [old, ad, news] = [period('old', 'codecs="hvc1.1.6.L60.90"'), period('ad', AVC), period('news', AVC)];
    expect(await listOf(periods(old, ad, news, ''), root)).toEqual({ ad: 'ad-v1 ad-v2 news-v1 news-v2' });
    expect(await listOf(periods(ad, old), root)).toEqual({ old: 'old-v1 old-v2' });
  });
});
