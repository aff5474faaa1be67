import type { Conversion } from './conversion.ts';
import { m4a } from './m4a.ts';
import { mp3 } from './mp3.ts';
import { opus } from './opus.ts';
import { wav } from './wav.ts';

/**
 * Every conversion, in the order in which those that are listed are offered. The name is the value of `?format=` and of `convertTo`, and
 * the field under which a stored resource keeps what it promised of it: a published name never changes.
 */
export const conversions = { mp3, m4a, opus, wav } satisfies Readonly<Record<string, Conversion>>;

export type ConversionName = keyof typeof conversions;

export const conversionNames = Object.keys(conversions) as readonly ConversionName[];

/** Finds a conversion by the name in a request, in any case. Undefined for an unknown name. */
export const findConversionName = (name: string | undefined): ConversionName | undefined =>
  conversionNames.find((known) => known === name?.toLowerCase());
