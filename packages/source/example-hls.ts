import { pipeline } from 'node:stream/promises';
import { createGuardedFetch } from '@reelay/guarded-fetch';
import { join } from '@reelay/seekable-media';
import { fromHls } from '@reelay/source';

// node example-hls.ts VIDEO.m3u8 AUDIO.m3u8 [127.0.0.1:8080] > file.mp4
const [, , video = '', audio = '', ...allow] = process.argv;
const { close, ...egress } = createGuardedFetch({ allow });
const file = await join(await Promise.all([fromHls(video, { egress }), fromHls(audio, { egress })]));
await pipeline(file.read(0, file.size), process.stdout);
await close();
