import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createEgress } from '../../core/egress/create-egress.ts';
import { closeAfterwards } from './close-afterwards.ts';
import { listen } from './listen.ts';

export const VIDEO_ID = 'dQw4w9WgXcQ';

/** A segment as the interface of SponsorBlock answers it. */
export const segmentOf = (start: number, end: number, category = 'sponsor', traits: object = {}) => ({
  segment: [start, end],
  UUID: `${category}-${start}`,
  category,
  actionType: 'skip',
  videoDuration: 0,
  locked: 0,
  votes: 3,
  description: '',
  ...traits,
});

/** The prefix by which the segments of a video are asked for. */
export const prefixOf = (videoId: string): string => createHash('sha256').update(videoId).digest('hex').slice(0, 4);

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** Answers with the segments of `VIDEO_ID`, and of another video that has the same prefix. */
export const answerSegments =
  (...segments: readonly object[]): Answer =>
  (request, response) => {
    if (!request.url?.startsWith(`/base/api/skipSegments/${prefixOf(VIDEO_ID)}?`))
      return void response.writeHead(404).end();
    const other = { videoID: 'aaaaaaaaaaa', segments: [segmentOf(0, 290)] };
    response.end(JSON.stringify([other, { videoID: VIDEO_ID, hash: 'x', segments }]));
  };

/** Starts a service of segments on loopback until the test ends, and an egress that may reach it. */
export async function startSegmentsService(answer: Answer, isAdmitted = true) {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? '');
    answer(request, response);
  });
  const { host, url } = closeAfterwards(await listen(server));
  const { request } = closeAfterwards(createEgress({ allow: isAdmitted ? [host] : [] }));
  /** For what asks it. */
  const options = { sponsorblockUrl: `${url}/base`, request };
  return { options, paths };
}
