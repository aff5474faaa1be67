import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import sirv from 'sirv';
import { fragmentedHls, madeBy } from '../../../test/origin/media.ts';
import { closeAfterwards } from '../../../test/support/close-afterwards.ts';
import { listen } from '../../../test/support/listen.ts';

const SECONDS = 12;
const PICTURE = ['-f', 'lavfi', '-i', `testsrc2=s=320x180:r=25:d=${SECONDS}`];
const TONE = ['-f', 'lavfi', '-i', `sine=400:r=48000:d=${SECONDS}`];
const H264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '25'];

/** `video.mp4` and `audio.m4a`, the same with fragments, and lists of both together and of each. */
const makeMedia = () =>
  madeBy([
    [...PICTURE, ...H264, '-movflags', '+faststart', 'video.mp4'],
    [...TONE, '-c:a', 'aac', '-movflags', '+faststart', 'audio.m4a'],
    ['-i', 'video.mp4', '-c', 'copy', '-movflags', 'frag_keyframe+empty_moov+dash+global_sidx', 'fragments.mp4'],
    [
      '-i',
      'video.mp4',
      '-i',
      'audio.m4a',
      '-c',
      'copy',
      '-f',
      'hls',
      '-hls_time',
      '4',
      '-hls_list_size',
      '0',
      'ts.m3u8',
    ],
    ['-i', 'video.mp4', '-c', 'copy', ...fragmentedHls('picture', 4)],
    ['-i', 'audio.m4a', '-c', 'copy', ...fragmentedHls('sound', 4)],
  ]);

export type Handler = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

/** A server of these files on loopback, with ranges and entity tags, which is closed after the test or file. */
export async function serveMedia() {
  const folder = await makeMedia();
  const files = sirv(folder, { dev: true, etag: true });
  const requests: { readonly path: string; readonly range: string | undefined }[] = [];
  let use: Handler = (_request, _response, next) => next();
  const server = createServer((request, response) => {
    const { url = '', headers } = request;
    requests.push({ path: url, range: headers.range });
    use(request, response, () => void files(request, response, () => void response.writeHead(404).end()));
  });
  const { url, host, close } = await listen(server);
  return closeAfterwards({
    folder,
    url,
    host,
    /** In their order. */
    requests,
    /** Answers the further requests, or passes them on to the files. */
    use: (handler: Handler) => {
      use = handler;
    },
    close,
  });
}
