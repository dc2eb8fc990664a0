// The protocol's types as its library declares them, to check messages against while a session runs.

import { createRequire } from 'node:module';
import path from 'node:path';
import ts from 'typescript';

/** How many of a value's errors are told. */
const MOST_ERRORS = 5;

/** Names of the library's classes whose type arguments are those of a method. */
const REQUEST = /^ProtocolRequestType(0?)$/;
const NOTIFICATION = /^ProtocolNotificationType(0?)$/;

/** Types that are plain numbers to the compiler, by the names of the properties that have them. */
const UNSIGNED = new Set(['line', 'character', 'version', 'startLine', 'startCharacter', 'endLine', 'endCharacter', 'percentage', 'severity', 'kind']);

/**
 * Types knows what each method takes and gives.
 *
 * A value fits if it has what the type requires, nothing that the type does not name, and whole numbers only: no
 * number of a message of ours has a fraction.
 */
export class Types {
  constructor() {
    const entry = path.join(path.dirname(createRequire(import.meta.url).resolve('vscode-languageserver-protocol/node')), 'main.d.ts');
    const program = ts.createProgram([entry], {
      strict: true, noEmit: true, skipLibCheck: true, types: [], lib: ['lib.es2022.d.ts'],
      module: ts.ModuleKind.Node16, moduleResolution: ts.ModuleResolutionKind.Node16,
    });
    this.checker = program.getTypeChecker();
    this.entry = program.getSourceFile(entry);
    /** @type {Map<string, {params?: ts.Type, result?: ts.Type, partial?: ts.Type}>} */
    this.methods = new Map();
    this.named = new Map();
    for (const symbol of this.checker.getExportsOfModule(this.checker.getSymbolAtLocation(this.entry))) {
      this.named.set(symbol.name, symbol);
      this.#readMethod(symbol);
    }
  }

  /** Reads a namespace such as HoverRequest, which has a method and a type. */
  #readMethod(symbol) {
    const target = symbol.flags & ts.SymbolFlags.Alias ? this.checker.getAliasedSymbol(symbol) : symbol;
    if (!(target.flags & ts.SymbolFlags.ValueModule)) return;
    const members = this.checker.getExportsOfModule(target);
    const of = (name) => members.find((member) => member.name === name);
    if (!of('method') || !of('type')) return;
    const method = this.checker.getTypeOfSymbol(of('method')).value;
    const type = this.checker.getTypeOfSymbol(of('type'));
    const args = this.checker.getTypeArguments(type);
    const request = REQUEST.exec(type.symbol?.name ?? '');
    if (request) {
      const [params, result, partial] = request[1] ? [undefined, ...args] : args;
      this.methods.set(method, { params, result, partial });
    } else if (NOTIFICATION.exec(type.symbol?.name ?? '')?.[1] === '') {
      this.methods.set(method, { params: args[0] });
    } else {
      this.methods.set(method, {});
    }
  }

  /** The type of an interface that the library exports. */
  type(name) {
    const symbol = this.named.get(name);
    if (!symbol) throw new Error(`the library has no type ${name}`);
    return this.checker.getDeclaredTypeOfSymbol(symbol.flags & ts.SymbolFlags.Alias ? this.checker.getAliasedSymbol(symbol) : symbol);
  }

  /** Says where a value does not fit a type; empty if it fits. */
  errors(value, type, where) {
    const found = [];
    this.#check(value, type, where, found);
    return found.slice(0, MOST_ERRORS);
  }

  #check(value, type, where, found) {
    const flags = type.flags;
    const wrong = () => found.push(`${where}: ${brief(value)} is no ${this.checker.typeToString(type)}`);
    if (flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return;
    if (type.isUnion()) return this.#checkUnion(value, type, where, found);
    if (type.isIntersection()) return this.#checkObject(value, type, where, found);
    if (type.isLiteral()) return void (value === type.value || wrong());
    if (flags & ts.TypeFlags.BooleanLiteral) return void (String(value) === type.intrinsicName || wrong());
    if (flags & ts.TypeFlags.String || flags & ts.TypeFlags.TemplateLiteral) return void (typeof value === 'string' || wrong());
    if (flags & ts.TypeFlags.Number) {
      const fits = Number.isSafeInteger(value) && !(value < 0 && UNSIGNED.has(where.split('.').at(-1)));
      return void (fits || wrong());
    }
    if (flags & ts.TypeFlags.Boolean) return void (typeof value === 'boolean' || wrong());
    if (flags & ts.TypeFlags.Null) return void (value === null || wrong());
    if (flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Void)) return void (value === undefined || value === null || wrong());
    if (flags & ts.TypeFlags.Never) return void wrong();
    if (flags & ts.TypeFlags.NonPrimitive) return void ((typeof value === 'object' && value !== null) || wrong());
    if (flags & ts.TypeFlags.Object) return this.#checkObject(value, type, where, found);
    if (flags & ts.TypeFlags.TypeParameter) return;
    throw new Error(`${where}: a type of an unknown sort: ${this.checker.typeToString(type)}`);
  }

  /** Tells the errors of the member that fits best. */
  #checkUnion(value, type, where, found) {
    let best;
    for (const member of type.types) {
      const errors = [];
      this.#check(value, member, where, errors);
      if (errors.length === 0) return;
      if (member.flags & ts.TypeFlags.Object && typeof value === 'object' && (!best || errors.length < best.length)) best = errors;
    }
    found.push(...(best ?? [`${where}: ${brief(value)} is no ${this.checker.typeToString(type)}`]));
  }

  #checkObject(value, type, where, found) {
    if (this.checker.isTupleType(type)) {
      const elements = this.checker.getTypeArguments(type);
      if (!Array.isArray(value) || value.length !== elements.length) {
        found.push(`${where}: ${brief(value)} is no ${this.checker.typeToString(type)}`);
      } else {
        value.forEach((item, i) => this.#check(item, elements[i], `${where}[${i}]`, found));
      }
      return;
    }
    if (this.checker.isArrayType(type)) {
      if (!Array.isArray(value)) return void found.push(`${where}: ${brief(value)} is no list`);
      const [element] = this.checker.getTypeArguments(type);
      value.forEach((item, i) => this.#check(item, element, `${where}[${i}]`, found));
      return;
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return void found.push(`${where}: ${brief(value)} is no ${this.checker.typeToString(type)}`);
    }
    const index = this.checker.getIndexInfosOfType(type)[0]?.type;
    const properties = new Map(this.checker.getPropertiesOfType(type).map((property) => [property.name, property]));
    for (const [name, property] of properties) {
      const declared = this.checker.getTypeOfSymbol(property);
      if (value[name] !== undefined) this.#check(value[name], declared, `${where}.${name}`, found);
      else if (!(property.flags & ts.SymbolFlags.Optional)) found.push(`${where} has no ${name}`);
    }
    for (const name of Object.keys(value)) {
      if (properties.has(name)) continue;
      if (index) this.#check(value[name], index, `${where}.${name}`, found);
      else found.push(`${where} has ${name}, which ${this.checker.typeToString(type)} has not`);
    }
  }
}

function brief(value) {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 120 ? `${text.slice(0, 117)}...` : text;
}
