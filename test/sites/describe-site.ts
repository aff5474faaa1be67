import { dirname } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { MediaDetails, ResourceInformation, StreamReference } from '../../clients/reelay-client/src/api-types.ts';
import { type StockFile, type StockOutcome, sha256 } from './stock-yt-dlp.ts';
import { trackHashes } from './track-hashes.ts';
import type { SiteFixture } from './use-site.ts';

/** One link, and what yt-dlp alone and the service make of it. */
interface SiteCase {
  readonly title: string;
  readonly url: string;
  readonly delivers?: Delivery;
  readonly refuses?: Refusal;
}

/** What yt-dlp downloads and the service streams. */
export interface Delivery {
  /** Ids of the formats that yt-dlp downloads. */
  readonly ytDlp: readonly string[];
  /** What the service streams, in its order, by the ids of the formats; pairs as `137+140`. @default none */
  readonly video?: readonly string[];
  readonly audio?: readonly string[];
  /** Languages of the subtitles that yt-dlp downloads. @default none */
  readonly subtitles?: readonly string[];
  /** Languages that the service lists: no comments, and none that yt-dlp has converted itself. @default `subtitles` */
  readonly listed?: readonly string[];
  /** The errors of yt-dlp for formats that cannot be downloaded, in lines. @default none */
  readonly errors?: RegExp;
}

interface Refusal {
  /** The error of yt-dlp. */
  readonly ytDlp: RegExp;
  /** The service's status and problem type, as in `415 login`. */
  readonly service: string;
}

/** One file with picture and sound, from which the sound alone is streamed too. */
export const both = (name: string) => ({ ytDlp: [name], video: [name], audio: [name] });
/** Files of sound, in the order of the service. */
export const sounds = (...names: readonly string[]) => ({ ytDlp: names, audio: names });

export const delivers = (title: string, url: string, delivery: Delivery): SiteCase => ({
  title: `delivers ${title}`,
  url,
  delivers: delivery,
});

/** @param service status and problem type, as in `415 login` */
export const refuses = (title: string, url: string, ytDlp: RegExp, service: string): SiteCase => ({
  title: `refuses ${title}`,
  url,
  refuses: { ytDlp, service },
});

/**
 * Tests that yt-dlp alone and the service make the same of each link: what one downloads, the other streams byte for byte;
 * what one refuses, the other refuses with the status and type of its reason. A failure says which of the two has changed.
 * @param args further options of yt-dlp
 */
export function describeSite(
  name: string,
  site: SiteFixture,
  cases: readonly SiteCase[],
  args?: readonly string[],
): void {
  describe(name, () => {
    let alone: ReadonlyMap<string, StockOutcome>;
    beforeAll(async () => {
      alone = await site.download(
        cases.map(({ url }) => url),
        args,
      );
    });
    it.each(cases.map((one) => [one.title, one] as const))('%s', async (_, { url, delivers, refuses }) => {
      const stock = alone.get(url) ?? { formats: [], subtitles: [], errors: ['not tried'] };
      const streamed = await streamAll(site, url, stock.formats);
      const saw = `yt-dlp alone: ${describeStock(stock)}; the service: ${describeStreamed(streamed)}`;
      if (refuses) {
        expect(stock.errors.join('\n'), `yt-dlp has changed. ${saw}`).toMatch(refuses.ytDlp);
        const [status, type] = refuses.service.split(' ');
        const expected = { status: Number(status), type: `/problems/${type}` };
        expect(streamed, `The service has changed. ${saw}`).toEqual(expected);
      } else {
        const {
          ytDlp = [],
          video = [],
          audio = [],
          subtitles = [],
          listed = subtitles,
          errors = /^$/,
        } = delivers ?? {};
        const names = { formats: namesOf(stock.formats), subtitles: namesOf(stock.subtitles) };
        expect(stock.errors.join('\n'), `yt-dlp has changed. ${saw}`).toMatch(errors);
        expect(names, `yt-dlp has changed. ${saw}`).toEqual({ formats: [...ytDlp].sort(), subtitles });
        expect(streamed, `The service has changed. ${saw}`).toEqual({ status: 200, video, audio });
        expect(await listSubtitles(site, url), `The service has changed. ${saw}`).toEqual(listed);
      }
    });
  });
}

const namesOf = (files: readonly StockFile[]) => files.map(({ name }) => name).sort();

const describeStock = ({ formats, errors }: StockOutcome) =>
  [`downloads ${namesOf(formats).join(', ') || 'nothing'}`, ...errors].join('; ');

type Streamed =
  | { readonly status: number; readonly video: string[]; readonly audio: string[] }
  | { readonly status: number; readonly type: string | undefined };

const describeStreamed = (streamed: Streamed) =>
  'video' in streamed
    ? `streams ${[...streamed.video, ...streamed.audio].join(', ')}`
    : `${streamed.status} ${streamed.type}`;

/** Resolves a link and streams each of its renditions, which it names by the downloaded files with the same content. */
async function streamAll(site: SiteFixture, url: string, files: readonly StockFile[]): Promise<Streamed> {
  const { status, body } = await site.resolve(url);
  if (status !== 200) return { status, type: (body as { type?: string }).type };
  const names = new Map<string, Promise<string>>();
  const nameAll = (reference: StreamReference | undefined): Promise<string[]> => {
    const own = (reference?.renditions ?? []).filter(({ convertTo }) => !convertTo);
    const paths = own.map(({ urlType, key }) => `/api/Stream/${urlType}/${key}`);
    for (const path of paths) if (!names.has(path)) names.set(path, nameOf(site, path, files));
    return Promise.all(paths.map((path) => names.get(path) ?? path));
  };
  const [item] = body.mediaItems;
  return { status, video: await nameAll(item?.video), audio: await nameAll(item?.audio) };
}

/** The languages of the subtitles that people have written. */
async function listSubtitles(site: SiteFixture, url: string): Promise<string[]> {
  const { body } = await site.get(`/api/Fetch/GetDetails?url=${encodeURIComponent(url)}`);
  const { subtitles }: MediaDetails = JSON.parse(body.toString());
  return subtitles.flatMap(({ language, isAutomatic }) => (isAutomatic ? [] : (language ?? []))).sort();
}

/**
 * Tests that a link is a list, and that the first rendition of each entry is what yt-dlp alone downloads of the same entry.
 * @param expected titles of the list and of its entries, and the ids of the formats that the renditions have the content of, as in `Delivery`
 */
export const itDeliversList = (
  title: string,
  site: SiteFixture,
  url: string,
  expected: { readonly title?: string; readonly titles?: readonly string[]; readonly streams: readonly string[] },
): void =>
  it(`delivers ${title} as a list`, async () => {
    const { body } = await site.resolve(url);
    const items = body.mediaItems ?? [];
    const found = { type: body.type, title: body.title, titles: items.map((item) => item.title) };
    expect({ ...found, streams: await streamEntries(site, url, items) }).toMatchObject({
      type: 'PlayList',
      ...expected,
    });
  });

async function streamEntries(site: SiteFixture, url: string, items: ResourceInformation['mediaItems']) {
  const stock = (await site.download([url], ['--yes-playlist', '--concat-playlist', 'never'])).get(url);
  const entries = [...Map.groupBy(stock?.formats ?? [], ({ path }) => dirname(path)).values()];
  const best = items.map(({ video, audio }) => (video ?? audio)?.renditions?.[0]);
  return Promise.all(
    best.map((one, index) => nameOf(site, `/api/Stream/${one?.urlType}/${one?.key}`, entries[index] ?? [])),
  );
}

/** The file that a stream has the bytes or the tracks of; else the files that its tracks are from. */
async function nameOf(site: SiteFixture, path: string, files: readonly StockFile[]): Promise<string> {
  const { status, body } = await site.get(path);
  if (status !== 200) return `${status} ${JSON.parse(body.toString()).type}`;
  const same = files.find((file) => file.sha256 === sha256(body));
  if (same) return same.name;
  const copy = await site.keep(body);
  const tracks = await Promise.all(files.map(async (file) => ({ file, hashes: await trackHashes(file.path) })));
  const hashes = await trackHashes(copy);
  const remuxed = tracks.find((each) => each.hashes.join() === hashes.join());
  if (remuxed) return remuxed.file.name;
  const sources = hashes.map((hash) => tracks.find((each) => each.hashes.join() === hash)?.file.name ?? 'unknown');
  return sources.join('+');
}
