import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { certificate } from '../packages/guarded-fetch/test/certificate.ts';
import { freePort } from '../test/support/free-port.ts';
import { MEDIA_DIR, makeMedia } from './media.ts';
import { onExit, type Server, startNginx } from './processes.ts';

export interface BenchOrigin extends Server {
  /** The same by TLS, and whose certificate it is to be trusted by: the path of a PEM file. */
  readonly secure: { readonly host: string; readonly baseUrl: string; readonly certificate: string };
  /** Describes an item at `/site/{name}` to the test extractor: which files it has. Makes those that are missing. */
  publish(name: string, formats: readonly Format[], durationSeconds: number): Promise<void>;
  /** Describes a list of published items at `/site/{name}`. */
  publishList(name: string, items: readonly string[]): Promise<void>;
}

export interface Format {
  /** A file of `media.ts`. */
  readonly file: string;
  readonly holds: 'video' | 'audio' | 'both';
  /** Where it is: a path on the origin, or a URL. @default '/media/' */
  readonly folder?: string;
}

/** A video and its audio as formats of their own. */
export const pairOf = (video: string, audio: string): readonly Format[] => [
  { file: video, holds: 'video' },
  { file: audio, holds: 'audio' },
];

/** The same nginx feeds every rival, so that the source is never what differs. It lists its folders, which rclone needs. */
export async function startBenchOrigin(): Promise<BenchOrigin> {
  const root = await mkdtemp(join(tmpdir(), 'bench-origin-'));
  await mkdir(join(root, 'site-api'));
  await symlink(MEDIA_DIR, join(root, 'media'));
  const remove = () => rmSync(root, { recursive: true, force: true });
  const unregister = onExit(remove);
  const tls = { port: await freePort(), certificate: join(root, 'certificate.pem'), key: join(root, 'key.pem') };
  await writeFile(tls.certificate, certificate.cert);
  await writeFile(tls.key, certificate.key);
  const host = `127.0.0.1:${tls.port}`;
  const nginx = await startNginx(
    `
    root ${root}; autoindex on;
    location /site-api/ { default_type application/json; }`,
    { tls },
  );
  return {
    ...nginx,
    secure: { host, baseUrl: `https://${host}`, certificate: tls.certificate },
    async publish(name, formats, durationSeconds) {
      const described = formats.map(async ({ file, holds, folder = '/media/' }) => ({
        format_id: holds,
        url: new URL(folder + file, nginx.baseUrl).href,
        ext: file.split('.').pop(),
        protocol: 'http',
        vcodec: holds === 'audio' ? 'none' : 'avc1.42c01f',
        acodec: holds === 'video' ? 'none' : 'mp4a.40.2',
        filesize: await makeMedia(file),
      }));
      const common = { id: name, title: name, uploader: 'Bench', duration: durationSeconds };
      const info = { ...common, formats: await Promise.all(described) };
      await writeFile(join(root, 'site-api', name), JSON.stringify({ info }));
    },
    async publishList(name, items) {
      const entries = items.map((item) => ({
        _type: 'url',
        ie_key: 'ReelayTest',
        id: item,
        url: `${nginx.baseUrl}/site/${item}`,
        title: item,
      }));
      const info = { _type: 'playlist', id: name, title: name, uploader: 'Bench', entries };
      await writeFile(join(root, 'site-api', name), JSON.stringify({ info }));
    },
    close: async () => {
      await nginx.close();
      unregister();
      remove();
    },
  };
}
