import { Value } from 'typebox/value';
import {
  type DeliveryOrder,
  deliveryOrderSchema,
  parseDeliveryParameters,
  parseLinkParameter,
  problems,
} from '../../core/api/index.ts';

/**
 * Reads the body of Deliver.
 * @throws Problem 400 that names the first wrong field, and contains no value
 */
export function parseDeliveryOrder(body: unknown): DeliveryOrder {
  if (!Value.Check(deliveryOrderSchema, body)) {
    const kinds = [...Value.Errors(deliveryOrderSchema, body)];
    const field = kinds
      .map(({ instancePath }) => instancePath.slice(1).replaceAll('/', '.'))
      .find((path) => /^[\w.]{1,64}$/.test(path));
    throw problems.badRequest(
      field ? `${field} is missing or not valid` : 'The body lacks a field, or has an unknown one',
    );
  }
  const { url, to, webhook, ...parameters } = body;
  parseLinkParameter(new URLSearchParams({ url }).toString());
  parseDeliveryParameters(parameters);
  const target = requireUrl('to', to.kind === 's3' ? to.endpoint : to.url);
  if (target.search || target.hash) throw problems.badRequest('The URL in to needs no query and no fragment');
  if (webhook) requireUrl('webhook', webhook.url);
  const names = to.kind === 's3' ? (to.prefix ?? '').split('/') : [];
  if (names.some((name) => name === '.' || name === '..' || !isText(name)))
    throw problems.badRequest('to.prefix has a name that is not valid');
  return body;
}

/** Lone surrogates have no UTF-8. */
const isText = (text: string): boolean => !/[\p{Cc}\p{Cs}]/u.test(text);

function requireUrl(field: string, text: string): URL {
  const url = /^https?:\/\/[^/?#\\]/i.test(text) && isText(text) ? URL.parse(text) : null;
  if (!url || url.username || url.password)
    throw problems.badRequest(`${field} needs an http or https URL without credentials`);
  return url;
}
