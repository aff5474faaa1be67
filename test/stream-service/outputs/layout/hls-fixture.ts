import { expect } from 'vitest';
import { checkPlaylist } from '../../../support/hls-checker.ts';
import { sendRequest } from '../../../support/request.ts';

/** A playlist that is there, its audio and its subtitles. */
export async function readPlaylist(url: string) {
  const { status, headers, body } = await sendRequest(url);
  expect([url, status, status === 200 ? '' : body.toString()]).toEqual([url, 200, '']);
  expect(headers['content-type']).toBe('application/vnd.apple.mpegurl');
  expect(headers).not.toHaveProperty('content-disposition');
  const { media, ...playlist } = checkPlaylist(body.toString());
  const ofType = (type: string) => media.filter(({ TYPE }) => TYPE === type);
  return { ...playlist, media: ofType('AUDIO'), texts: ofType('SUBTITLES') };
}

/** The addresses of the playlists of a master playlist: of its variants, and of their media. */
export async function tracksOf(master: string) {
  const { variants, media } = await readPlaylist(master);
  const uris = [...variants.map(({ uri }) => uri), ...media.map(({ URI = '' }) => URI.slice(1, -1))];
  return { variants, media, uris, urls: uris.map((uri) => new URL(uri, master).href) };
}

/** Some ranges of files, both ends included, and the entity tags of these. */
export async function readRanges(ranges: readonly (readonly [url: string, range: string])[]) {
  const answers = await Promise.all(
    ranges.map(([url, range]) => sendRequest(url, { headers: { range: `bytes=${range}` } })),
  );
  const places = answers.map(({ status, headers }) => [status, headers['content-range']?.replace(/\/.*/, '')]);
  expect(places).toEqual(ranges.map(([, range]) => [206, `bytes ${range}`]));
  return {
    parts: answers.map(({ body }) => body),
    etags: [...new Set(answers.map(({ headers }) => headers.etag))],
  };
}

/** A playlist of a track with all that it lists, the initialization first. */
export async function readTrack(url: string) {
  const playlist = await readPlaylist(url);
  const { map, segments } = playlist;
  const listed = [map, ...segments].map((each) => each ?? expect.fail(`No EXT-X-MAP in ${url}`));
  const ranges = listed.map(
    ({ uri, range: { first, bytes } }) => [new URL(uri, url).href, `${first}-${first + bytes - 1}`] as const,
  );
  return { url, ...playlist, ...(await readRanges(ranges)) };
}
