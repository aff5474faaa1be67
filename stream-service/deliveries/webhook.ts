import { createHmac } from 'node:crypto';
import type { DeliveryReport } from '../../core/api/index.ts';
import type { SendRequest } from './destination.ts';

const MAX_RETRIES = 3;

/** Posts the report of a delivery that has ended. @throws DestinationFailed when it was not accepted */
export async function sendWebhook(
  { url, secret }: { readonly url: string; readonly secret: string },
  report: DeliveryReport,
  send: SendRequest,
): Promise<void> {
  const body = Buffer.from(JSON.stringify(report));
  const prepare = () => {
    const time = Math.floor(Date.now() / 1000);
    const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
    const headers = { 'content-type': 'application/json', 'x-reelay-signature': `t=${time},v1=${signature}` };
    return { method: 'POST', url, headers, body, bodyBytes: body.length } as const;
  };
  await send(prepare, { maxRetries: MAX_RETRIES });
}
