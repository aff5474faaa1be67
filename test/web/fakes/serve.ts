import { createServer, type RequestListener } from 'node:http';
import { afterFile } from '../../support/after-file.ts';
import { listen } from '../../support/listen.ts';

/** A server for one test file. @returns its base URL */
export async function serve(listener: RequestListener): Promise<string> {
  const { close, url } = await listen(createServer(listener));
  afterFile(close);
  return url;
}
