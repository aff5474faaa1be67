import { expectProblem } from '../contract/api-document.ts';
import { openResponse } from '../support/request.ts';

/**
 * The possible outcomes of a stream: every byte, a status with its ProblemDetails, or a broken connection after
 * correct bytes.
 */
export type Outcome = 'right' | '404' | '415' | '502' | 'broken';

interface OutcomeOptions {
  /** The bytes of a stream without faults. */
  readonly right: Buffer;
  /** Called once, with the first bytes. */
  readonly onFirstBytes?: () => void;
}

/** Reads a stream to its end and classifies the result; anything unexpected is described in words. */
export async function outcomeOf(url: string, { right, onFirstBytes }: OutcomeOptions): Promise<string> {
  const { status, headers, body } = await openResponse(url);
  if (status !== 200) {
    const text = Buffer.from(await body.arrayBuffer()).toString();
    expectProblem(status, JSON.parse(text));
    return String(status);
  }
  const chunks: Buffer[] = [];
  const soFar = () => Buffer.concat(chunks);
  try {
    for await (const chunk of body) {
      if (chunks.length === 0) onFirstBytes?.();
      chunks.push(chunk);
    }
  } catch {
    const bytes = soFar();
    if (bytes.length === 0) return 'broken before the first byte';
    // The bytes before must be correct: a client keeps them and requests the rest.
    return bytes.equals(right.subarray(0, bytes.length)) ? 'broken' : `broken after wrong bytes, ${bytes.length}`;
  }
  const bytes = soFar();
  const promised = Number(headers['content-length'] ?? bytes.length);
  if (promised !== bytes.length) return `${bytes.length} bytes of ${promised}, ended well`;
  return bytes.equals(right) ? 'right' : `ended well with ${bytes.length} other bytes of ${right.length}`;
}
