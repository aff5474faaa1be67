import { Agent, type Dispatcher } from 'undici';

/** A response with its complete body. */
export interface ReceivedResponse {
  readonly status: number;
  /** Lower-case names; repeated fields joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export type OpenResponse = Omit<ReceivedResponse, 'body'> & { readonly body: Dispatcher.ResponseData['body'] };

export interface RequestOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
  /** Bytes of the body after which the connection is closed. @default all */
  readonly maxBytes?: number;
}

/** One connection per request, closed afterwards: none is left when a test ends. */
const agent = new Agent({ pipelining: 0, headersTimeout: 60_000, bodyTimeout: 60_000 });

/**
 * Sends one request without normalizing its path.
 * @throws when the connection breaks before the body is complete
 */
export async function sendRequest(url: string, options: RequestOptions = {}): Promise<ReceivedResponse> {
  const answer = await openResponse(url, options);
  const { maxBytes = Number.POSITIVE_INFINITY } = options;
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer.body) {
    chunks.push(chunk);
    length += chunk.length;
    // Leaving the loop closes the connection.
    if (length >= maxBytes) break;
  }
  return { ...answer, body: Buffer.concat(chunks).subarray(0, maxBytes) };
}

/** The status of a response, or that it was broken off. */
export const statusOrBroken = (answer: Promise<{ readonly status: number }>): Promise<number | 'broken'> =>
  answer.then(
    ({ status }) => status,
    () => 'broken',
  );

/** A response with its body unread. */
export async function openResponse(
  url: string,
  { method = 'GET', headers = {}, body, signal }: RequestOptions = {},
): Promise<OpenResponse> {
  const { origin } = new URL(url);
  const answer = await agent.request({
    origin,
    path: url.slice(origin.length) || '/',
    method: method as Dispatcher.HttpMethod,
    headers,
    body: body ?? null,
    signal: signal ?? null,
  });
  const fields = Object.entries(answer.headers).map(([name, value]) => [name, [value].flat().join(', ')]);
  return { status: answer.statusCode, headers: Object.fromEntries(fields), body: answer.body };
}
