import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Resource, Template } from '../permissions.ts';
import { allReferencesOf, referencesIn } from '../template.ts';

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

/** One moment of a change: what is in place of the resources that matter. */
export interface Moment {
  /** Logical ids whose next properties are in force. */
  readonly applied: ReadonlySet<string>;
  /** Resources that do not exist: not yet, or no longer. */
  readonly absent: ReadonlySet<string>;
}

/** A change of one template to another, as far as the chosen resources are concerned. */
export class Change {
  readonly former: Template;
  readonly next: Template;
  readonly #ids: readonly string[];
  readonly #replaced = new Map<string, boolean>();

  /** @param matters whether a resource is followed; the states of all others are left out */
  constructor(former: Template, next: Template, matters: (resource: Resource) => boolean) {
    this.former = former;
    this.next = next;
    const all = { ...former.Resources, ...next.Resources };
    const chosen = Object.keys(all).filter((id) => [former, next].some((of) => isChosen(of.Resources[id], matters)));
    this.#ids = chosen.filter((id) => !this.isKept(id) || this.isChanged(id));
  }

  /** Whether both templates have the resource. */
  isKept = (id: string): boolean => Boolean(this.former.Resources[id] && this.next.Resources[id]);

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

  /** Every moment of the deployment, of its cleanup and of rollbacks from any moment, with independent resources in any order. */
  *moments(): Generator<Moment> {
    const seen = new Set<string>();
    const isNew = ({ applied, absent }: Moment) => {
      const name = JSON.stringify([[...applied].sort(), [...absent].sort()]);
      return !seen.has(name) && seen.add(name);
    };
    for (const moment of this.#all()) if (isNew(moment)) yield moment;
  }

  *#all(): Generator<Moment> {
    const { former, next } = this;
    const inNext = this.#ids.filter((id) => next.Resources[id]);
    const inFormer = this.#ids.filter((id) => former.Resources[id]);
    const created = inNext.filter((id) => !this.isKept(id) || this.isReplaced(id));
    const obsolete = inFormer.filter((id) => !this.isKept(id) || this.isReplaced(id));
    const nextNames = (ids: readonly string[]) => ids.map((id) => this.nameOf(id, 'next'));
    const formerNames = (ids: readonly string[]) => ids.map((id) => this.nameOf(id, 'former'));
    for (const applied of prefixes(inNext, predecessors(next, inNext))) {
      const absent = nextNames(created.filter((id) => !applied.has(id)));
      yield { applied, absent: new Set(absent) };
      // A rollback: former properties in the order of the former template, then deletion of what was created.
      const touched = [...applied].filter((id) => former.Resources[id]);
      for (const reverted of prefixes(touched, predecessors(former, touched)))
        yield { applied: new Set([...applied].filter((id) => !reverted.has(id))), absent: new Set(absent) };
      const remaining = created.filter((id) => applied.has(id));
      for (const deleted of prefixes(remaining, successors(next, remaining)))
        yield { applied: new Set(), absent: new Set([...absent, ...nextNames([...deleted])]) };
    }
    for (const deleted of prefixes(obsolete, successors(former, obsolete)))
      yield { applied: new Set(inNext), absent: new Set(formerNames([...deleted])) };
  }
}

const isChosen = (resource: Resource | undefined, matters: (resource: Resource) => boolean): boolean =>
  resource !== undefined && matters(resource);

/** Those of some resources that each of them depends on. */
const predecessors = (template: Template, ids: readonly string[]) =>
  new Map(ids.map((id) => [id, new Set(ids.filter((other) => allReferencesOf(template, id).has(other)))]));

/** Those of some resources that depend on each of them. */
function successors(template: Template, ids: readonly string[]): Map<string, Set<string>> {
  const before = predecessors(template, ids);
  return new Map(ids.map((id) => [id, new Set(ids.filter((other) => before.get(other)?.has(id)))]));
}

/** Every set of resources that contains all that come before each of them. */
function* prefixes(ids: readonly string[], before: ReadonlyMap<string, ReadonlySet<string>>): Generator<Set<string>> {
  const seen = new Set<string>();
  const open: Set<string>[] = [new Set()];
  for (let done = open.pop(); done; done = open.pop()) {
    yield done;
    for (const id of ids) {
      if (done.has(id) || [...(before.get(id) ?? [])].some((other) => !done.has(other))) continue;
      const more = new Set([...done, id]);
      const name = ids.filter((other) => more.has(other)).join();
      if (!seen.has(name)) open.push(more);
      seen.add(name);
    }
  }
}
