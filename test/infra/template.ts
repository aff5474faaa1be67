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

/** The only resource of a type. @throws Error when there is none, or several */
export function onlyResource(template: Template, type: string): Properties {
  const [found, ...more] = resourcesOfType(template, type);
  if (!found || more.length > 0) throw new Error(`${found ? more.length + 1 : 0} of ${type}`);
  return found.properties;
}

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

/** Transitive dependencies of a resource, by reference or DependsOn. */
export function dependenciesOf(template: Template, type: string, name: RegExp): Set<string> {
  const { Resources } = template;
  const start = Object.entries(Resources).find(([id, { Type }]) => Type === type && name.test(id))?.[0];
  if (!start) throw new Error(`No ${type} called ${name}`);
  const reached = new Set<string>();
  const visit = (id: string) => {
    if (reached.has(id) || !Resources[id]) return;
    reached.add(id);
    for (const next of referencesIn(Resources[id])) visit(next);
  };
  visit(start);
  return new Set([...reached].map(withoutHash));
}

function referencesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key === 'Ref' || key === 'DependsOn') return [inner].flat() as string[];
    if (key === 'Fn::GetAtt') return [String([inner].flat()[0]).split('.')[0] ?? ''];
    return referencesIn(inner);
  });
}
