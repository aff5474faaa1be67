import { pipeline } from 'node:stream/promises';
import { createGuardedFetch } from '@reelay/guarded-fetch';
import { createRequests, HLS, openFile, openSegments } from '@reelay/source';

// node example.ts URL [127.0.0.1:8080]: the bytes of a file, or of the segments of an HLS playlist, whatever fails on the way.
const [, , url = '', ...allow] = process.argv;
const { close, ...egress } = createGuardedFetch({ allow });
const find = () => ({ url, headers: {}, cookies: [], renew: async () => find() });
const request = createRequests({ egress })(find());
const isList = new URL(url).pathname.endsWith('.m3u8');
const source = await (isList ? openSegments({ ...request, kind: HLS }) : openFile(request));
await pipeline(source.needsRemux ? source.readAll() : source.read(0), process.stdout);
await close();
