/** Entry point of the container for one machine: like `npm start`, with the parts that the image has beside this file. */
import { join } from 'node:path';
import { runService } from './run-service.ts';

const at = (name: string): string => join(import.meta.dirname, name);

await runService({ pageDir: at('web'), swaggerDir: at('swagger'), ytDlpDir: at('yt-dlp') });
