import { createHmac } from 'node:crypto';
import type { DeliveryReport } from '../../core/api/index.ts';
import { isPassingFailure, refusal, type SendRequest, withRetries } from './destination.ts';

export interface WebhookOptions {
  readonly send: SendRequest;
  /** Before the first repetition. */
  readonly pauseMs: number;
  readonly signal: AbortSignal;
}

const MAX_RETRIES = 3;

/** Posts the report of a delivery that has ended. @throws DestinationFailed when it was not accepted */
export async function sendWebhook(
  { url, secret }: { readonly url: string; readonly secret: string },
  report: DeliveryReport,
  { send, pauseMs, signal }: WebhookOptions,
): Promise<void> {
  const body = Buffer.from(JSON.stringify(report));
  const attempt = async () => {
    const time = Math.floor(Date.now() / 1000);
    const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
    const headers = { 'content-type': 'application/json', 'x-reelay-signature': `t=${time},v1=${signature}` };
    const { status } = await send({ method: 'POST', url, headers, body, bodyBytes: body.length });
    if (status < 200 || status >= 300) throw refusal(status);
  };
  await withRetries(attempt, { isPassing: isPassingFailure, pauseMs, maxRetries: MAX_RETRIES, signal });
}
