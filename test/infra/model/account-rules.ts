import { HELD_BY, UNIQUE_PROPERTIES } from './resource-types.ts';
import { findResource, type ModelResource, refersTo, type World } from './world.ts';

/** AWS refuses a change. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

const readPath = (properties: unknown, path: string): unknown =>
  path.split('.').reduce((value: unknown, key) => Object(value)[key], properties);

/** @throws Refused when the resource cannot exist beside the others */
export function checkCreation(world: World, created: ModelResource): void {
  const others = Object.values(world.resources).filter(
    (other) => other.type === created.type && other.key !== created.key,
  );
  const unique = UNIQUE_PROPERTIES[created.type] ?? [];
  const identity = ({ properties }: ModelResource) => JSON.stringify(unique.map((path) => readPath(properties, path)));
  const isNamed = unique.some((path) => readPath(created.properties, path) !== undefined);
  if (isNamed && others.some((other) => identity(other) === identity(created)))
    throw new Refused(`${created.logicalId}: ${unique} exists`);
  const { properties } = created;
  if (created.type === 'AWS::EC2::Subnet') {
    const overlapping = others.find(
      (other) => other.properties.VpcId === properties.VpcId && overlaps(other.properties, properties),
    );
    if (overlapping) throw new Refused(`${created.logicalId}: its block overlaps with ${overlapping.logicalId}`);
  }
  if (created.type === 'AWS::Lambda::Permission') {
    const [, alias] = /:(live)$/.exec(String(properties.FunctionName)) ?? [];
    const { key } = findResource(world, 'AWS::Lambda::Function', properties.FunctionName);
    if (alias && !world.functions[key]?.aliases[alias]) throw new Refused(`${created.logicalId}: no alias ${alias}`);
  }
  if (created.type === 'AWS::Lambda::Function') findResource(world, 'AWS::IAM::Role', properties.Role);
}

/** @throws Refused while something holds the resource */
export function checkDeletion(world: World, deleted: ModelResource): void {
  const refuse = (reason: string): never => {
    throw new Refused(`${deleted.logicalId} ${deleted.physicalId}: ${reason}`);
  };
  const holderTypes = HELD_BY[deleted.type];
  for (const holder of holderTypes ? Object.values(world.resources) : []) {
    if (!holderTypes?.includes(holder.type)) continue;
    const { GroupId: _, ...properties } = holder.properties;
    // A rule of the group itself is deleted with it.
    const value = holder.type === 'AWS::EC2::SecurityGroupIngress' ? properties : holder.properties;
    if (refersTo(value, deleted)) refuse(`in use by ${holder.logicalId}`);
  }
  const running = world.tasks.filter(({ lastStatus }) => lastStatus === 'RUNNING');
  const holders: Readonly<Record<string, (task: (typeof running)[number]) => unknown>> = {
    'AWS::ECS::Cluster': ({ cluster }) => cluster,
    'AWS::EC2::Subnet': ({ subnets }) => subnets,
    'AWS::EC2::SecurityGroup': ({ securityGroups }) => securityGroups,
    // Public addresses of tasks are mapped by the gateway.
    'AWS::EC2::VPCGatewayAttachment': () => deleted.physicalId,
  };
  const held = holders[deleted.type];
  for (const task of running) if (held && refersTo(held(task), deleted)) refuse(`in use by task ${task.taskArn}`);
  if (Object.keys(world.buckets[deleted.key] ?? {}).length > 0) refuse('the bucket is not empty');
}

function overlaps(one: Readonly<Record<string, unknown>>, two: Readonly<Record<string, unknown>>): boolean {
  const [a, b] = [toRange(one.CidrBlock), toRange(two.CidrBlock)];
  return a.first < b.end && b.first < a.end;
}

function toRange(block: unknown) {
  const [address = '', bits] = String(block).split('/');
  const first = address.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0);
  return { first, end: first + 2 ** (32 - Number(bits)) };
}
