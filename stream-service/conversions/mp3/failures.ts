import { Problem, problems } from '../../../core/api/index.ts';

/** The same bytes; a failure that is no Problem yet becomes a 502: the source cannot be read or is not audio. */
export async function* answerable<T>(bytes: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* bytes;
  } catch (error) {
    throw error instanceof Problem ? error : problems.fetchFailed(error);
  }
}
