import { parsePythonJson } from '../../media/index.ts';
import { type Info, infoList, isInfo } from './info.ts';
import { reduceInfo } from './reduce-info.ts';

/** What yt-dlp has extracted, and the figures of its worker. */
export interface ExtractedInfo {
  readonly info: Info;
  readonly isIncomplete: boolean;
  /** Replaced cookies, as the worker reports them. Untrusted. */
  readonly cookies?: readonly Info[];
  readonly waitedMs?: number;
  readonly extractedMs?: number;
}

/** Not what the worker of yt-dlp answers. */
export class InvalidExtraction extends Error {
  override readonly name = 'InvalidExtraction';
}

/** Reads a successful answer of the worker of yt-dlp. @throws InvalidExtraction */
export function readExtraction(answer: unknown): ExtractedInfo {
  if (!isInfo(answer) || !isInfo(answer.info)) throw new InvalidExtraction('Not an answer of yt-dlp');
  const { info, isIncomplete, cookies, waitedMs, extractedMs } = answer;
  return {
    info: reduceInfo(info),
    isIncomplete: isIncomplete === true,
    ...(cookies !== undefined && { cookies: infoList(cookies) }),
    ...(typeof waitedMs === 'number' && { waitedMs }),
    ...(typeof extractedMs === 'number' && { extractedMs }),
  };
}

/** The same, before it is parsed. */
export const parseExtraction = (json: Uint8Array): ExtractedInfo =>
  readExtraction(parsePythonJson(Buffer.from(json.buffer, json.byteOffset, json.length).toString()));
