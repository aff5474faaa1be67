const MAX_REASON_LENGTH = 200;

/** The first line of an error for the operator, with the cause where the message alone says too little (network errors). */
export function reasonOf(error: unknown): string {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  const [line = ''] = message.split('\n');
  const isVague = /^fetch failed$|^aborted|timeout$/i.test(line) && cause instanceof Error;
  return (isVague ? `${line}: ${cause.message}` : line).slice(0, MAX_REASON_LENGTH);
}
