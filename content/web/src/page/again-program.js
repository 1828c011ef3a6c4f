/** The Python that answers an exercise for inputs of the reader's own. Pure; tests run it for every exercise of the bank. */

/**
 * Evaluates the bank's own expressions for other inputs; text inputs stay as they are.
 * @param {import('./judge.js').Answer} answer @param {(string|number)[][]} inputs  names and what was written
 */
export function againProgram({ answer_expression: expression, mistake_expressions: mistakes, inputs: original }, inputs) {
  const asked = Object.fromEntries(Object.entries(original).filter(([, value]) => typeof value === 'number')
    .map(([name, value]) => [name, Number.isInteger(value) ? 'count' : 'number']));
  return `import zeroledger as _z
def _again(given, asked, expression, mistakes):
    try:
        names = {}
        exec("from zeroledger import *", names)
        def read(name, value):
            if asked.get(name) == "count":
                return _z.parse_count(value, name)
            try:
                return float(value) if name in asked else value
            except ValueError:
                raise _z.InvalidInput(name, value, "a number") from None
        scope = {name: read(name, value) for name, value in given}
        scope["answer"] = eval(expression, names, scope)
        return {"answer": scope["answer"], "mistakes": [eval(one, names, scope) for one in mistakes]}
    except ValueError as error:
        return {"error": str(error)}
_again(${JSON.stringify(inputs)}, ${JSON.stringify(asked)}, ${JSON.stringify(expression)}, ${JSON.stringify(mistakes)})
`;
}
