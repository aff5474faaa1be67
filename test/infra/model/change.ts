import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Template } from '../permissions.ts';
import { referencesIn } from '../template.ts';

interface Specification {
  readonly schema: {
    readonly resource: {
      readonly entities: readonly {
        readonly cloudFormationType: string;
        readonly properties: Readonly<Record<string, { readonly causesReplacement?: 'yes' | 'maybe' }>>;
      }[];
    };
  };
}

const file = join(import.meta.dirname, '../../../node_modules/aws-cdk/db.json.gz');
const { schema } = JSON.parse(gunzipSync(readFileSync(file)).toString()) as Specification;

/** The properties of each type whose change replaces a resource, as CloudFormation specifies them; all others change in place. */
const REPLACING_PROPERTIES: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  schema.resource.entities.map(({ cloudFormationType, properties }) => [
    cloudFormationType,
    Object.keys(properties).filter((name) => properties[name]?.causesReplacement),
  ]),
);

export type Version = 'former' | 'next';

/** A change of one template to another. */
export class Change {
  readonly former: Template;
  readonly next: Template;
  readonly #replaced = new Map<string, boolean>();

  constructor(former: Template, next: Template) {
    this.former = former;
    this.next = next;
  }

  /** Whether it becomes another one, beside which the former one exists until the end. */
  isReplaced = (id: string): boolean => {
    const known = this.#replaced.get(id);
    if (known !== undefined) return known;
    const [one, two] = [this.former.Resources[id], this.next.Resources[id]];
    const isOther = (name: string) =>
      JSON.stringify(one?.Properties?.[name]) !== JSON.stringify(two?.Properties?.[name]) ||
      referencesIn(two?.Properties?.[name]).some(this.isReplaced);
    const isReplaced = one !== undefined && two !== undefined && (REPLACING_PROPERTIES[one.Type] ?? []).some(isOther);
    this.#replaced.set(id, isReplaced);
    return isReplaced;
  };

  /** Whether it changes, in place or not. */
  isChanged = (id: string): boolean => {
    const [one, two] = [this.former.Resources[id], this.next.Resources[id]];
    return JSON.stringify(one) !== JSON.stringify(two) || referencesIn(two).some(this.isOther);
  };

  /** Whether what others read of it differs afterwards. */
  isOther = (id: string): boolean =>
    this.isReplaced(id) || (/^Custom::/.test(this.next.Resources[id]?.Type ?? '') && this.isChanged(id));

  /** The name of what a template of this version means by a logical id. */
  nameOf = (id: string, version: Version): string => (this.isReplaced(id) ? `${id} of ${version}` : id);
}
