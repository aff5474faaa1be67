import { pipeline } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { generatedStream } from './generated-stream.ts';
import { type GuardedResponse, toUpstreamError } from './response-body.ts';

/** A part of compressed bytes ends somewhere. */
const PART = { finishFlush: constants.Z_SYNC_FLUSH };

const DECODERS = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/** The response with its body decoded, as far as it is read. Others, and unknown codings, stay as they are. */
export function decodeResponse(response: GuardedResponse): GuardedResponse {
  const { 'content-encoding': coding = '', 'content-length': _, ...headers } = response.headers;
  const create = DECODERS.get(coding.trim().toLowerCase());
  if (!create) return response;
  const decoder = pipeline(response.body, create(response.status === 206 ? PART : {}), () => undefined);
  const decoded = async function* () {
    try {
      yield* decoder;
    } catch (error) {
      throw toUpstreamError(error);
    }
  };
  const body = generatedStream(decoded(), () => decoder.destroy());
  return { ...response, headers, body, wasDecoded: true };
}
