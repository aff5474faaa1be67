import { createServer, type IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listen } from './listen.ts';

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: none. */
  readonly parentId: string;
  readonly name: string;
  /** 1: internal, 2: server, 3: client. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly resource: Readonly<Record<string, string | number | boolean>>;
}

/** A receiver of OTLP over HTTP in protobuf. */
export interface OtlpReceiver {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  readonly requests: readonly { readonly path: string; readonly headers: IncomingHttpHeaders }[];
  close(): Promise<void>;
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const requests: { path: string; headers: IncomingHttpHeaders }[] = [];
  const server = createServer(async (request, response) => {
    requests.push({ path: request.url ?? '', headers: request.headers });
    spans.push(...readSpans(await buffer(request)));
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  });
  return { ...(await listen(server)), spans, requests };
}

/** `ExportTraceServiceRequest` of opentelemetry-proto: the numbers are those of its fields. */
const readSpans = (message: Buffer): ReceivedSpan[] =>
  messagesOf(message, 1).flatMap((resourceSpans) => {
    const resource = attributesOf(messagesOf(resourceSpans, 1)[0] ?? Buffer.alloc(0), 1);
    return messagesOf(resourceSpans, 2)
      .flatMap((scopeSpans) => messagesOf(scopeSpans, 2))
      .map((span) => ({
        traceId: hexOf(span, 1),
        spanId: hexOf(span, 2),
        parentId: hexOf(span, 4),
        name: messagesOf(span, 5)[0]?.toString() ?? '',
        kind: numberOf(span, 6),
        attributes: attributesOf(span, 9),
        resource,
      }));
  });

const hexOf = (message: Buffer, field: number): string => messagesOf(message, field)[0]?.toString('hex') ?? '';
const numberOf = (message: Buffer, field: number): number =>
  Number(fieldsOf(message).find(({ number }) => number === field)?.value ?? 0);
const messagesOf = (message: Buffer, field: number): Buffer[] =>
  fieldsOf(message).flatMap(({ number, value }) => (number === field && Buffer.isBuffer(value) ? [value] : []));

function attributesOf(message: Buffer, field: number): Record<string, string | number | boolean> {
  return Object.fromEntries(
    messagesOf(message, field).map((pair) => {
      const [any = Buffer.alloc(0)] = messagesOf(pair, 2);
      const [{ number, value } = { number: 1, value: Buffer.alloc(0) }] = fieldsOf(any);
      const read = Buffer.isBuffer(value) ? (number === 4 ? value.readDoubleLE() : value.toString()) : Number(value);
      return [messagesOf(pair, 1)[0]?.toString() ?? '', number === 2 ? Boolean(read) : read];
    }),
  );
}

/** Fields of a protobuf message: varints as numbers, fixed and length-delimited ones as bytes. */
function fieldsOf(message: Buffer): { readonly number: number; readonly value: bigint | Buffer }[] {
  const fields: { number: number; value: bigint | Buffer }[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message[at++];
      if (byte === undefined) throw new Error('Truncated message');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.length) {
    const tag = Number(varint());
    const wireType = tag & 7;
    if (wireType === 0) {
      fields.push({ number: tag >> 3, value: varint() });
      continue;
    }
    const length = wireType === 1 ? 8 : wireType === 5 ? 4 : Number(varint());
    fields.push({ number: tag >> 3, value: message.subarray(at, at + length) });
    at += length;
  }
  return fields;
}
