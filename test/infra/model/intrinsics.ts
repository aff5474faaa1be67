import type { ModelTemplate } from './world.ts';

/** Supplies the values that a template refers to. */
export interface References {
  /** The value of `Ref`. */
  ref(logicalId: string): unknown;
  attribute(logicalId: string, name: string): unknown;
}

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value of a template with its intrinsic functions resolved; properties that are `AWS::NoValue` are left out. */
export function resolve(value: unknown, references: References): unknown {
  if (Array.isArray(value)) return value.map((item) => resolve(item, references));
  if (!isFields(value)) return value;
  const [[name, argument] = ['', undefined], ...more] = Object.entries(value);
  const compute = more.length === 0 ? functions[name] : undefined;
  if (compute) return compute(argument, references);
  if (name.startsWith('Fn::')) throw new Error(`The model has no ${name}`);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => !(isFields(inner) && inner.Ref === 'AWS::NoValue'))
      .map(([key, inner]) => [key, resolve(inner, references)]),
  );
}

const functions: Readonly<Record<string, (argument: unknown, references: References) => unknown>> = {
  Ref: (argument, { ref }) => ref(String(argument)),
  'Fn::GetAtt': (argument, { attribute }) => attribute(...splitAttribute(argument)),
  'Fn::Join': (argument, references) => {
    const [separator, items] = argument as [string, unknown];
    return (resolve(items, references) as unknown[]).join(separator);
  },
  'Fn::Select': (argument, references) => {
    const [index, items] = resolve(argument, references) as [unknown, unknown[]];
    return items[Number(index)];
  },
  'Fn::Split': (argument, references) => {
    const [separator, text] = resolve(argument, references) as [string, string];
    return text.split(separator);
  },
  'Fn::GetAZs': () => ['us-east-1a', 'us-east-1b', 'us-east-1c'],
  'Fn::Sub': (argument, references) => {
    const [text, values] = [argument].flat() as [string, Fields | undefined];
    return text.replaceAll(/\$\{([^}!]+)\}/g, (_, name: string) => {
      if (values && name in values) return String(resolve(values[name], references));
      return String(name.includes('.') ? references.attribute(...splitAttribute(name)) : references.ref(name));
    });
  },
};

/** `['Id', 'Name']` or `Id.Name`; names may contain dots. */
function splitAttribute(argument: unknown): [id: string, name: string] {
  const [id = '', ...name] = Array.isArray(argument) ? argument.map(String) : String(argument).split('.');
  return [id, name.join('.')];
}

/** Logical ids that a resource of a template depends on, by reference or by DependsOn. */
export function dependenciesOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(dependenciesOf);
  if (!isFields(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key === 'Ref' || key === 'DependsOn') return [inner].flat().map(String);
    if (key === 'Fn::GetAtt') return [splitAttribute(inner)[0]];
    if (key !== 'Fn::Sub') return dependenciesOf(inner);
    const [text, values] = [inner].flat() as [string, unknown];
    const names = [...text.matchAll(/\$\{([^}!]+)\}/g)].map(([, name = '']) => splitAttribute(name)[0]);
    return [...names, ...dependenciesOf(values)];
  });
}

const orders = { forward: new WeakMap<ModelTemplate, string[]>(), reversed: new WeakMap<ModelTemplate, string[]>() };

/**
 * Logical ids in an order in which every resource follows its dependencies; computed once per template.
 * @param isReversed takes independent resources in the reverse of the template's order
 * @throws Error for a cycle
 */
export function dependencyOrder(template: ModelTemplate, isReversed = false): readonly string[] {
  const known = isReversed ? orders.reversed : orders.forward;
  const order = known.get(template) ?? computeOrder(template, isReversed);
  known.set(template, order);
  return order;
}

function computeOrder({ Resources }: ModelTemplate, isReversed: boolean): string[] {
  const ordered = new Set<string>();
  const open = new Set<string>();
  const visit = (id: string) => {
    if (ordered.has(id) || !Resources[id]) return;
    if (open.has(id)) throw new Error(`Dependency cycle at ${id}`);
    open.add(id);
    for (const next of dependenciesOf(Resources[id])) visit(next);
    open.delete(id);
    ordered.add(id);
  };
  const ids = Object.keys(Resources);
  for (const id of isReversed ? ids.reverse() : ids) visit(id);
  return [...ordered];
}
