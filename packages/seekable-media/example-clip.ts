import { pipeline } from 'node:stream/promises';
import { clip, urlSource } from '@reelay/seekable-media';

// node example-clip.ts URL 12.5 40 > clip.mp4
const [, , url = '', start, end] = process.argv;
const file = await clip(await urlSource(url), Number(start), Number(end));
await pipeline(file.read(0, file.size), process.stdout);
