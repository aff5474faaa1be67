import { type Template, withoutHash } from './permissions.ts';

type Properties = Readonly<Record<string, never>>;
interface Found {
  readonly id: string;
  readonly properties: Properties;
}

/** Resources of a type in the order of the template, with untyped properties. */
export const resourcesOfType = ({ Resources }: Template, type: string): Found[] =>
  Object.entries(Resources)
    .filter(([, { Type }]) => Type === type)
    .map(([id, { Properties = {} }]) => ({ id, properties: Properties as Properties }));

/** The properties of each of them. */
export const propertiesOf = (template: Template, type: string): Properties[] =>
  resourcesOfType(template, type).map(({ properties }) => properties);

/** One property of each of them. */
export const valuesOf = (template: Template, type: string, name: string): unknown[] =>
  propertiesOf(template, type).map((properties) => properties[name]);

/** The only resource of a type. @throws Error when there is none, or several */
export function onlyResource(template: Template, type: string): Properties {
  const [found, ...more] = resourcesOfType(template, type);
  if (!found || more.length > 0) throw new Error(`${found ? more.length + 1 : 0} of ${type}`);
  return found.properties;
}

/** A function of Reelay by its name, with its environment. @throws Error when there is none */
export function functionNamed(template: Template, name: string) {
  const found = resourcesOfType(template, 'AWS::Lambda::Function').find(
    ({ properties }) => String(properties.Description) === `Reelay ${name}`,
  );
  if (!found) throw new Error(`No function ${name}`);
  const { Variables = {} } = (found.properties.Environment ?? {}) as { Variables?: Record<string, unknown> };
  return { ...found, variables: Variables };
}

/** The container of the stream task, with its environment. */
export function containerOf(template: Template) {
  const { ContainerDefinitions } = onlyResource(template, 'AWS::ECS::TaskDefinition') as unknown as {
    ContainerDefinitions: [Record<string, unknown> & { Environment: { Name: string; Value: unknown }[] }];
  };
  const [container] = ContainerDefinitions;
  return { ...container, variables: Object.fromEntries(container.Environment.map(({ Name, Value }) => [Name, Value])) };
}

/** Names of the resources of a type, without their hashes. */
export const idsOf = (template: Template, type: string): string[] =>
  resourcesOfType(template, type).map(({ id }) => withoutHash(id));

const NAME =
  /^((Function|Bucket|Table|Role|Rule|Cluster|Service|Topic|Alarm|Dashboard|Budget|Layer|LogGroup)?Name|Family)$/;

/** Names that resources are given explicitly: top-level properties, and those of CloudFront's configurations. */
export const explicitNames = ({ Resources }: Template): string[] =>
  Object.values(Resources).flatMap(({ Type, Properties = {} }) => {
    // These names refer to AWS services and functions of the stack.
    if (Type === 'AWS::EC2::VPCEndpoint' || Type === 'AWS::Lambda::Permission') return [];
    const nested = Type.startsWith('AWS::CloudFront::') ? Object.values(Properties) : [];
    const places = [Properties, ...nested.filter((value) => typeof value === 'object' && !Array.isArray(value))];
    return places.flatMap((place) =>
      Object.entries(place as object)
        .filter(([key]) => NAME.test(key))
        .flatMap(([, value]) => plainText(value) ?? []),
    );
  });

/** A string, or an Fn::Join with `<…>` for its references; undefined for any other value. */
function plainText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  const { 'Fn::Join': join, Ref: reference } = (value ?? {}) as { 'Fn::Join'?: [string, unknown[]]; Ref?: string };
  if (join)
    return join[1]
      .map((part) => (typeof part === 'object' ? `<${(part as { Ref: string }).Ref}>` : part))
      .join(join[0]);
  return reference?.startsWith('AWS::') ? `<${reference}>` : undefined;
}

/** Transitive dependencies of a resource, and itself, by reference or DependsOn. */
export function dependenciesOf(template: Template, type: string, name: RegExp): Set<string> {
  const start = Object.entries(template.Resources).find(([id, { Type }]) => Type === type && name.test(id))?.[0];
  if (!start) throw new Error(`No ${type} called ${name}`);
  return new Set([start, ...allReferencesOf(template, start)].map(withoutHash));
}

/** Logical ids that a value of a template refers to, with those in its DependsOn. */
export function referencesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key === 'Ref' || key === 'DependsOn') return [inner].flat().map(String);
    if (key === 'Fn::GetAtt') return [String([inner].flat()[0]).split('.')[0] ?? ''];
    if (key !== 'Fn::Sub') return referencesIn(inner);
    const [text, values] = [inner].flat() as [string, unknown];
    const names = [...text.matchAll(/\$\{([^}!.]+)/g)].map(([, name = '']) => name);
    return [...names, ...referencesIn(values)];
  });
}

const reached = new WeakMap<Template, Map<string, Set<string>>>();

/** Every resource that one depends on, also by way of others. */
export function allReferencesOf(template: Template, id: string): ReadonlySet<string> {
  const known = reached.get(template) ?? new Map<string, Set<string>>();
  reached.set(template, known);
  const found = known.get(id);
  if (found) return found;
  const direct = referencesIn(template.Resources[id]).filter((other) => template.Resources[other]);
  const all = new Set(direct);
  known.set(id, all);
  for (const other of direct) for (const further of allReferencesOf(template, other)) all.add(further);
  return all;
}
